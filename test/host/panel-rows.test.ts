// Rows of the panel: what their menu does, and that nothing of a row but its number is believed.
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { CachelineApi } from '../../extension/features/api';
import type { PanelLine, ToPanel } from '../../extension/protocol/panel';
import { rowContext } from '../../extension/protocol/panel-rows';
import type { CacheLine } from '../../extension/protocol/report';
import { activate, closeEditors, eventually, profile, program, source } from './support';

describe('rows of the panel', function () {
  this.timeout(120_000);
  let api: CachelineApi;

  const shown = (): Extract<ToPanel, { type: 'report' }> => {
    const { message } = api.panelState();
    assert.ok(message.type === 'report');
    return message;
  };
  const first = (): PanelLine => {
    const [line] = shown().lines;
    assert.ok(line);
    return line;
  };
  const firstInFull = async (): Promise<CacheLine> => {
    const line = (await api.currentReport())?.lines.find(({ address, space }) => address === first().address && space === first().space);
    assert.ok(line);
    return line;
  };
  /** As the editor calls the command of a menu. */
  const choose = (command: string, access?: number): Thenable<unknown> => {
    const row = { version: shown().version, line: first().id, ...(access === undefined ? {} : { access }) };
    return vscode.commands.executeCommand(`cacheline.${command}`, JSON.parse(rowContext(row)));
  };
  const copied = async (command: string, access?: number): Promise<string> => {
    await vscode.env.clipboard.writeText('');
    await choose(command, access);
    return vscode.env.clipboard.readText();
  };

  before(async () => {
    api = await activate();
    await profile({ program: program('reader_writer', 'contended') });
    await vscode.commands.executeCommand('cacheline.showPanel');
    await eventually('the page has the report', () => api.panelState().shown);
  });

  after(async () => {
    await closeEditors();
    await vscode.commands.executeCommand('cacheline.clear');
  });

  it('are copied as Markdown, CSV and JSON', async () => {
    const line = await firstInFull();
    assert.match(await copied('copyRowAsMarkdown'), new RegExp(`^Cache line \`${line.address}\` of pid \\d+: \\*\\*false sharing`));
    const [header = '', row = ''] = (await copied('copyRowAsCsv')).split('\r\n');
    assert.match(header, /^index,address,/);
    assert.match(row, new RegExp(`^0,${line.address},`));
    assert.equal((JSON.parse(await copied('copyRowAsJson')) as CacheLine).address, line.address);
    const access = JSON.parse(await copied('copyRowAsJson', 1)) as unknown;
    assert.deepEqual(access, { ...line.accesses[1], callers: [] }, 'with its call chains, of which none were recorded');
  });

  it('open their source, of an access its own', async () => {
    const uri = source('reader_writer/contended.c');
    const { accesses } = await firstInFull();
    for (const index of [0, 1]) {
      await choose('rowSource', index);
      await eventually('the line is selected', () => {
        const active = vscode.window.activeTextEditor;
        return active?.document.uri.fsPath === uri.fsPath && active.selection.active.line + 1 === accesses[index]?.line;
      });
    }
  });

  it('filter the table: only this, without this', async () => {
    const { address, id } = first();
    const all = shown().total;
    await choose('onlyRow');
    assert.equal(shown().filter, `line:${address}`);
    assert.deepEqual([shown().total, first().id], [1, id], 'the line has the same name under every filter');
    const { symbol } = (await firstInFull()).accesses[0] ?? {};
    await choose('withoutRow', 0);
    assert.match(shown().filter, new RegExp(`^line:${address} -function:.*${symbol}`));
    assert.equal(shown().total, 0);
    await api.receiveFromPanel({ type: 'filter', version: shown().version, filter: '' });
    await choose('withoutRow');
    assert.equal(shown().filter, `-line:${address}`);
    assert.equal(shown().total, all - 1);
    await api.receiveFromPanel({ type: 'filter', version: shown().version, filter: '' });
  });

  it('have their line in full, which the page asks for', async () => {
    const { version } = shown();
    const { id } = first();
    const { accesses } = await firstInFull();
    await api.receiveFromPanel({ type: 'detail', version, id });
    const detail = api.panelState().detail;
    assert.ok(detail);
    assert.deepEqual([detail.id, detail.size, detail.accesses.length], [id, 64, accesses.length]);
    const written = detail.pieces.filter(({ name }) => name === 'messages_written' || name === 'messages_read');
    assert.deepEqual(
      written.map(({ start, end }) => [start, end]),
      [
        [0, 8],
        [8, 16],
      ],
    );
    assert.ok(detail.hasSource);
    await api.receiveFromPanel({ type: 'unfold', version, id });
    assert.deepEqual(api.panelState().unfolded?.accesses, accesses);
    await api.receiveFromPanel({ type: 'detail', version, id: 'pid 1:0x40' });
    assert.equal(api.panelState().detail, undefined, 'of a line that is not there nothing');
    await api.receiveFromPanel({ type: 'unfold', version, id: 'pid 1:0x40' });
    assert.equal(api.panelState().unfolded?.id, id);
  });

  it('of another report, of no report and of a made-up kind do nothing', async () => {
    const { version } = shown();
    const { id } = first();
    await vscode.env.clipboard.writeText('before');
    const contexts = [
      undefined,
      {},
      { cachelineVersion: version - 1, cachelineLine: id },
      { cachelineVersion: version, cachelineLine: 'pid 1:0x40' },
      { cachelineVersion: version, cachelineLine: id, cachelineAccess: 1e6 },
      { cachelineVersion: version, cachelineLine: id, cachelineAccess: -1 },
      { cachelineVersion: version, cachelineLine: { toString: () => id } },
    ];
    for (const context of contexts) {
      await vscode.commands.executeCommand('cacheline.copyRowAsJson', context);
      await vscode.commands.executeCommand('cacheline.onlyRow', context);
    }
    assert.equal(await vscode.env.clipboard.readText(), 'before');
    assert.equal(shown().version, version, 'nothing was filtered');
  });
});
