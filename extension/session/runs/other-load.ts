// How much of the processors other programs used while ours ran: threads that have to share a processor do not contend, and runs take longer.
import { readFile } from 'node:fs/promises';

/** USER_HZ of /proc (proc(5)), which is 100 on all Linux that we support. */
const TICKS_PER_SECOND = 100;

export class OtherLoad {
  private constructor(
    private readonly began: number,
    private readonly ticks: number,
  ) {}

  static async start(): Promise<OtherLoad> {
    return new OtherLoad(performance.now(), await othersTicks());
  }

  /** @returns the processors that other programs and a hypervisor used since the start, on average */
  async end(): Promise<number> {
    const seconds = (performance.now() - this.began) / 1000;
    return Math.max(0, ((await othersTicks()) - this.ticks) / TICKS_PER_SECOND / seconds);
  }
}

/** For which processors were used or taken away (proc_stat(5)), but for this process and its children that have ended (proc_pid_stat(5)). */
async function othersTicks(): Promise<number> {
  const [all = ''] = (await readFile('/proc/stat', 'utf8')).split('\n');
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = all.split(/\s+/).slice(1).map(Number);
  const own = await readFile('/proc/self/stat', 'utf8');
  // The name before ")" may hold anything. Fields 14 to 17 are utime, stime, cutime and cstime; the first one behind the name is field 3.
  const fields = own.slice(own.lastIndexOf(')') + 2).split(' ');
  const ours = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return user + nice + system + irq + softirq + steal - ours;
}
