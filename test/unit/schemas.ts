// The JSON schemas of docs/, ready to validate with.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';

const names = [
  'cacheline-advice-1',
  'cacheline-accept',
  'cacheline-calibration-1',
  'cacheline-check-1',
  'cacheline-diff-1',
  'cacheline-where-1',
  'cacheline-recording-1',
  'cacheline-layout',
  'cacheline-layout-list',
  'cacheline-report-1',
  'cacheline-runs-1',
  'cacheline-table-1',
  'cacheline-threads-1',
  'cacheline-workset-1',
  'cacheline-trace-1',
  'cacheline-doctor',
] as const;
export type SchemaName = (typeof names)[number];

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
for (const name of names) {
  ajv.addSchema(JSON.parse(readFileSync(join(__dirname, `../../docs/${name}.schema.json`), 'utf8')) as object);
}

/** What is wrong with a document, one line each; empty where it is valid. */
export function schemaErrors(name: SchemaName, document: unknown): string[] {
  const validate = ajv.getSchema(`${name}.schema.json`) as ValidateFunction | undefined;
  if (validate === undefined) throw new Error(`docs/${name}.schema.json has another $id`);
  return validate(document) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
}

/** The fields of a valid document, of its lists' first four entries, that its schema would not miss: paths as "threads/0/tid". */
export function fieldsNotRequired(name: SchemaName, document: object): string[] {
  const copy = structuredClone(document);
  const unnoticed: string[] = [];
  const visit = (value: unknown, path: readonly string[]): void => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) value.splice(4);
    for (const [key, inner] of Object.entries(value as Record<string, unknown>)) {
      if (!Array.isArray(value)) {
        Reflect.deleteProperty(value, key);
        if (schemaErrors(name, copy).length === 0) unnoticed.push([...path, key].join('/'));
        Reflect.set(value, key, inner);
      }
      visit(inner, [...path, key]);
    }
  };
  visit(copy, []);
  return unnoticed;
}
