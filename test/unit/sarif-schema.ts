// The OASIS schema of SARIF 2.1.0, from the package that Microsoft's own tests of SARIF use.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import Ajv, { type SchemaObject } from 'ajv';
import addFormats from 'ajv-formats';

const path = createRequire(__filename).resolve('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json');
// It is of JSON Schema draft 4, of which it uses nothing that draft 7 has in another form, except for its own name.
const schema = JSON.parse(readFileSync(path, 'utf8')) as SchemaObject;
delete schema.$schema;
delete schema.id;
const ajv = new Ajv({ strict: true, strictRequired: false, unicodeRegExp: false, allErrors: true });
addFormats(ajv);
const validate = ajv.compile(schema);

/** What is wrong with a SARIF log, one line each; empty where it is valid. */
export function sarifErrors(log: unknown): string[] {
  return validate(log) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
}
