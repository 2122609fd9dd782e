// Paths of a recording and the files of this machine; what people point at when they mean a recording.
import assert from 'node:assert/strict';
import { droppedUris, recordingPath, recordingTitle } from '../../extension/session/record/recording-path';
import { agreeing, bestSuffixMatches, covers, mapPath, pairOf, topFolders } from '../../extension/session/lines/source-map';

describe('folders outside of the workspace', () => {
  it('are those that no other one covers', () => {
    const files = ['/usr/include/stdio.h', '/usr/include/bits/a.h', '/usr/include2/a.h', '/usr/include/b.h', '/home/me/a/b.c'];
    assert.deepEqual(topFolders(files), ['/home/me/a', '/usr/include', '/usr/include2']);
  });

  it('are not all covered by the root or a folder in it', () => {
    assert.deepEqual(topFolders(['/a.c', '/home/b.c', '/home/me/.ssh/id']), ['/', '/home', '/home/me/.ssh']);
    assert.equal(covers('/home', '/home'), true);
    assert.equal(covers('/home/me', '/home/me/.ssh'), true);
    assert.equal(covers('/home/me', '/home/me2'), false);
    assert.equal(covers('/', '/root'), false);
  });
});

describe('source map: by the end of the path', () => {
  it('takes the file that ends most like the path', () => {
    assert.deepEqual(bestSuffixMatches('/build/x/src/a.c', ['/ws/a.c', '/ws/src/a.c', '/ws/other/a.c']), ['/ws/src/a.c']);
    assert.deepEqual(bestSuffixMatches('../src/./a.c', ['/ws/src/a.c', '/ws/test/a.c']), ['/ws/src/a.c']);
  });

  it('compares whole components', () => {
    assert.deepEqual(bestSuffixMatches('/build/mysrc/a.c', ['/ws/src/a.c', '/ws/mysrc/a.c']), ['/ws/mysrc/a.c']);
  });

  it('does not guess between equals', () => {
    assert.deepEqual(bestSuffixMatches('/build/a.c', ['/ws/x/a.c', '/ws/y/a.c', '/ws/b.c']), ['/ws/x/a.c', '/ws/y/a.c']);
    assert.deepEqual(bestSuffixMatches('/build/a.c', ['/ws/x/b.c']), []);
    assert.deepEqual(bestSuffixMatches('/build/a.c', []), []);
  });

  it('lets files that had one candidate decide between the candidates of others', () => {
    const pairs = [pairOf('/build/agent/src/stats.c', '/ws/server/src/stats.c')];
    assert.deepEqual(pairs, [{ from: '/build/agent', to: '/ws/server' }]);
    const candidates = ['/ws/client/src/util.c', '/ws/server/src/util.c'];
    assert.equal(agreeing('/build/agent/src/util.c', candidates, pairs), '/ws/server/src/util.c');
    assert.equal(agreeing('/elsewhere/src/util.c', candidates, pairs), undefined);
    assert.equal(agreeing('/build/agent/src/util.c', candidates, []), undefined);
    const both = [...pairs, { from: '/build/agent', to: '/ws/client' }];
    assert.equal(agreeing('/build/agent/src/util.c', candidates, both), undefined, 'two files that disagree decide nothing');
  });

  it('makes a pair of the file itself where nothing is left of a path', () => {
    assert.deepEqual(pairOf('src/a.c', '/ws/src/a.c'), { from: 'src/a.c', to: '/ws/src/a.c' });
    assert.deepEqual(pairOf('/src/a.c', '/ws/src/a.c'), { from: '/src/a.c', to: '/ws/src/a.c' });
    for (const name of ['src/a.c', '/src/a.c', '/x/y/a.c']) {
      assert.equal(mapPath(name, [pairOf(name, '/ws/src/a.c')]), '/ws/src/a.c');
    }
  });
});

describe('source map: by the setting', () => {
  const pairs = [
    { from: '/build', to: '/ws' },
    { from: '/build/lib/', to: '/ws/third_party/' },
    { from: '/build/gen/a.c', to: '/ws/out/a.c' },
    { from: '', to: '/nowhere' },
  ];

  it('replaces the longest folder that the path lies below', () => {
    assert.equal(mapPath('/build/src/a.c', pairs), '/ws/src/a.c');
    assert.equal(mapPath('/build/lib/a.c', pairs), '/ws/third_party/a.c');
    assert.equal(mapPath('/build/gen/a.c', pairs), '/ws/out/a.c');
    assert.equal(mapPath('/build/src/../x.c', pairs), '/ws/x.c');
  });

  it('leaves other paths, and folders that only begin alike', () => {
    assert.equal(mapPath('/builder/a.c', pairs), undefined);
    assert.equal(mapPath('/usr/include/stdio.h', pairs), undefined);
    assert.equal(mapPath('/build/a.c', []), undefined);
  });
});

describe('recording path', () => {
  it('takes the files of a recording folder for the folder', () => {
    assert.equal(recordingPath('/ws/app.cacheline/perf.data'), '/ws/app.cacheline');
    assert.equal(recordingPath('/ws/app.cacheline/meta.json'), '/ws/app.cacheline');
    assert.equal(recordingPath('/ws/app.cacheline'), '/ws/app.cacheline');
    assert.equal(recordingPath('/ws/app.cacheline/notes.txt'), '/ws/app.cacheline/notes.txt');
    assert.equal(recordingPath('/tmp/perf.data'), '/tmp/perf.data');
    assert.equal(recordingPath('/tmp/meta.json'), '/tmp/meta.json');
  });

  it('is called by the recorded program, or by what tells files apart', () => {
    const bare = { recording: null };
    assert.equal(recordingTitle(bare, '/srv/web1/perf.data'), 'web1/perf.data');
    assert.equal(recordingTitle(bare, '/srv/web1.perf.data'), 'web1.perf.data');
    assert.equal(recordingTitle(bare, '/srv/app.cacheline'), 'app');
  });

  it('reads what was dropped', () => {
    const [first, second] = ['vscode-remote://host/ws/perf.data', 'file:///ws/b%20c'];
    assert.deepEqual(droppedUris({ resourceurls: JSON.stringify([first, second]), 'text/uri-list': 'file:///other' }), [first, second]);
    assert.deepEqual(droppedUris({ resourceurls: '', 'text/uri-list': `# comment\r\n${second}\r\n\r\n${first}` }), [second, first]);
    assert.deepEqual(droppedUris({ 'text/uri-list': 'https://example.com/perf.data\njavascript:alert(1)' }), []);
    assert.deepEqual(droppedUris({ resourceurls: '{"not":"a list"}' }), []);
    assert.deepEqual(droppedUris({ resourceurls: '[5, null, ["file:///x"]]' }), []);
    assert.deepEqual(droppedUris({}), []);
  });
});
