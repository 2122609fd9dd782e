// Names of types and members, as debug information has them and as they stand in sources.

/** "count" of "slots.count". */
export function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

/** A type's name without what declarations add: "const struct Worker[8]" is "Worker". */
export function typeName(type: string): string {
  let name = type.trim();
  for (let before = ''; before !== name;) {
    before = name;
    name = name
      .replace(/^(?:const|volatile|static|struct|class|union|enum)\s+/, '')
      .replace(/\s*\[\d*\]$/, '')
      .trim();
  }
  return name;
}

/** The name as it stands in the source: without namespaces and template arguments (of Go, type arguments). */
export function sourceName(name: string): string {
  const plain = typeName(name).replace(/[<[].*$/s, '');
  return /([\p{L}_][\p{L}\p{N}_]*)$/u.exec(plain)?.[1] ?? '';
}
