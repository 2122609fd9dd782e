// What of an error's next step can be copied and run.

/** The command line in a sentence: between backticks, or from "sudo" to the end of its clause. */
export function commandIn(nextStep: string): string | undefined {
  return /`([^`]+)`/.exec(nextStep)?.[1] ?? /\bsudo\s.*?(?=[.,;:)]*(\s+(or|and|then)\b|\s*$|[,;)]|\.\s))/.exec(nextStep)?.[0];
}
