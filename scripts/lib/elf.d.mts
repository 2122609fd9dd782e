// Types of elf.mjs for the tests.
export interface DynamicSection {
  soname: string | undefined;
  needed: string[];
  rpath: string | undefined;
  runpath: string | undefined;
  versions: { library: string; name: string }[];
}

export function readDynamic(file: string): DynamicSection;
export function glibcFloor(file: string): [number, number];
export function isNewer(version: [number, number], than: [number, number]): boolean;
