// The JSON schemas of docs/, made of the types of extension/protocol.
//   node scripts/schemas.mjs     writes docs/*.schema.json
// A type with the tag @id is a document and gets a file of that name. The types that it uses become its definitions, other documents
// references. Comments become descriptions, tags in them keywords (extension/protocol/values.ts).
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { createGenerator } from 'ts-json-schema-generator';
import { isMain, main, root, say } from './lib/run.mjs';

/** @returns the text of each schema, by the absolute path of its file */
export async function schemas() {
  const { definitions } = createGenerator({
    path: path.join(root, 'extension/protocol/*.ts'),
    tsconfig: path.join(root, 'tsconfig.json'),
    skipTypeCheck: true,
    additionalProperties: true,
    encodeRefs: false,
    sortProps: false,
    extraTags: ['oneOf', 'propertyNames'],
  }).createSchema('*');
  const texts = new Map();
  for (const document of Object.keys(definitions).filter((name) => definitions[name].$id !== undefined)) {
    const file = path.join(root, 'docs', definitions[document].$id);
    const text = JSON.stringify(schemaOf(document, definitions));
    texts.set(file, await format(text, { ...(await resolveConfig(file)), parser: 'json' }));
  }
  return texts;
}

/** One document as JSON Schema 2020-12, with the definitions that it uses in the order of their first use. */
function schemaOf(document, definitions) {
  const $defs = {};
  const refer = (name) => {
    if (definitions[name].$id !== undefined) return definitions[name].$id;
    if (!(name in $defs)) {
      $defs[name] = {};
      $defs[name] = copy(definitions[name]);
    }
    return `#/$defs/${name}`;
  };
  const copy = (schema) =>
    JSON.parse(JSON.stringify(schema), (key, value) => {
      if (key === '$ref') return value.startsWith('#/definitions/') ? refer(value.slice('#/definitions/'.length)) : value;
      return value?.properties === undefined ? value : readable(value);
    });
  const { $id, title, description, ...rest } = copy(definitions[document]);
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', $id, title, description, ...rest, $defs };
}

/** What an object is before its many properties. */
function readable({ type, description, required, properties, ...rest }) {
  return { type, description, required, properties, ...rest };
}

async function write() {
  for (const [file, text] of await schemas()) {
    await writeFile(file, text);
    say(path.relative(root, file));
  }
}

if (isMain(import.meta.url)) void main(write);
