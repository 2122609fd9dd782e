// Errors of the file system, in words.

const REASONS: Record<string, string> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'that file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: "this user's share of the disk is full",
  ENOTDIR: 'a part of the path is a file',
  ENOENT: 'the folder that it would be in does not exist',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its links lead in a circle',
};

/** The system's own words where there are no better ones. */
export function reasonOf(error: unknown): string {
  return REASONS[codeOf(error) ?? ''] ?? (error as Error).message;
}

/** Undefined: it is no error of the system. */
export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
