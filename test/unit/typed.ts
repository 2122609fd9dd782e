// Whether documents satisfy the TypeScript types, which describe what goes between processes: the compiler judges them.
import { join } from 'node:path';
import ts from 'typescript';

export interface TypedDocument {
  /** As in a type position: `Answers['heat']`. */
  type: string;
  /** JSON. */
  text: string;
}

/**
 * What the compiler says of the documents; fields that a type does not have are wrong, too.
 * @param imports lines of an imaginary file in this folder
 */
export function typeErrors(imports: readonly string[], documents: readonly TypedDocument[]): string[] {
  const file = join(__dirname, 'imaginary-documents.ts');
  const source = [...imports, ...documents.map(({ type, text }, i) => `export const document${i}: ${type} = ${text};`)].join('\n');
  const options: ts.CompilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  const disk = ts.createCompilerHost(options);
  host.fileExists = (path) => path === file || disk.fileExists(path);
  host.getSourceFile = (path, version) => (path === file ? ts.createSourceFile(path, source, version) : disk.getSourceFile(path, version));
  return ts
    .getPreEmitDiagnostics(ts.createProgram([file], options, host))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
