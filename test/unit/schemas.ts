// The JSON schemas of docs/, ready to validate with.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';

export type SchemaName = 'cacheline-report-1' | 'cacheline-recording-1' | 'cacheline-doctor';

const names: SchemaName[] = ['cacheline-recording-1', 'cacheline-report-1', 'cacheline-doctor'];
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
