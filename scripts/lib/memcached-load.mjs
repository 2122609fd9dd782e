// Gets and sets keys of a memcached on this machine until it is killed.
//   node scripts/lib/memcached-load.mjs PORT
import { connect } from 'node:net';
import process from 'node:process';

const [connections, keys, batch] = [8, 1000, 32];
const value = 'v'.repeat(100);

/** A batch of requests, nine of ten of them reads; each ends with `noop`'s answer. */
function requests(from) {
  let text = '';
  for (let i = 0; i < batch; i++) {
    const key = `key${(from + i * 7) % keys}`;
    text += i % 10 === 0 ? `set ${key} 0 0 ${value.length} noreply\r\n${value}\r\n` : `get ${key}\r\n`;
  }
  return `${text}mn\r\n`;
}

for (let number = 0; number < connections; number++) {
  const socket = connect(Number(process.argv[2]), '127.0.0.1');
  let next = number * 131;
  const send = () => socket.write(requests((next += batch)));
  socket.on('connect', send);
  let last = '';
  socket.on('data', (chunk) => {
    last += chunk.toString('latin1');
    const isAnswered = last.endsWith('MN\r\n');
    last = last.slice(-3);
    if (isAnswered) send();
  });
  socket.on('error', (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  });
}
