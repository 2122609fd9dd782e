// `cacheline layout`: how the types of a binary lie on cache lines.
import type { NativeEngine } from '../engine/native';
import type { LayoutDocument, TypeListDocument } from '../protocol/layout';
import { EngineError } from '../protocol/engine';
import { DONE } from '../session/record/exit-status';
import { typeListText } from '../session/layout/layout-list';
import { unknownType } from '../session/layout/layout-names';
import { layoutText } from '../session/layout/layout-text';
import type { LayoutArguments } from './layout-arguments';
import { page } from './pager';
import { outputStyle, outputWidth, print, say } from './terminal';

export async function layout(engine: NativeEngine, args: LayoutArguments): Promise<number> {
  return args.type === undefined ? listTypes(engine, args) : oneType(engine, args, args.type);
}

async function listTypes(engine: NativeEngine, args: LayoutArguments): Promise<number> {
  const { types, missing } = await engine.call('types', { binary: args.binary });
  for (const { message, nextStep } of missing) say(`warning: ${message} Types that exist only there are not listed. ${nextStep}`);
  if (args.format === 'json') print(`${JSON.stringify(types satisfies TypeListDocument)}\n`);
  else await show(typeListText(types, { width: outputWidth(), style: outputStyle(), folder: process.cwd() }), args);
  return DONE;
}

async function oneType(engine: NativeEngine, { binary, expand, lineSize, ...args }: LayoutArguments, name: string): Promise<number> {
  const { layouts, missing } = await engine.call('layout', { binary, name, expand, lineSize });
  const [first] = layouts;
  if (first === undefined) {
    const { message, nextStep } = unknownType(name, binary, (await engine.call('types', { binary })).types);
    throw new EngineError('unreadable', message, nextStep);
  }
  for (const { message, nextStep } of missing)
    say(`warning: ${message} A definition of ${name} that is only there is not shown. ${nextStep}`);
  if (args.format === 'json') print(`${JSON.stringify((layouts.length === 1 ? first : layouts) satisfies LayoutDocument)}\n`);
  else await show(layoutText(layouts, { width: outputWidth(), style: outputStyle(), folder: process.cwd() }), args);
  return DONE;
}

async function show(text: string, { pager }: Pick<LayoutArguments, 'pager'>): Promise<void> {
  if (pager) await page([text]);
  else print(text);
}
