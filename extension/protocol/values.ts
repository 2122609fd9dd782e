// Numbers and texts of the documents that docs/ has schemas of. The types of documents describe them alone: `npm run schemas` makes the
// schemas of them, with comments as descriptions and tags as keywords of JSON Schema.

/** @asType integer */
export type Integer = number;

/** @asType integer @minimum 0 */
export type Count = number;

/** @asType integer @minimum 1 */
export type Positive = number;

/** @minimum 0 @maximum 1 */
export type Share = number;

/** @pattern ^0x[0-9a-f]+$ */
export type Address = string;

/** Loads by the NUMA node that answered. */
export interface LocalRemote {
  local: Count;
  remote: Count;
}
