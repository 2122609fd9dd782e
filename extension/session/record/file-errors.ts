// Errors of the file system, in words.
import { t } from '../../protocol/l10n';

const REASONS: Record<string, string> = {
  EACCES: t('this user may not write there'),
  EPERM: t('this user may not write there'),
  EROFS: t('that file system is read-only'),
  ENOSPC: t('the disk is full'),
  EDQUOT: t("this user's share of the disk is full"),
  ENOTDIR: t('a part of the path is a file'),
  ENOENT: t('the folder that it would be in does not exist'),
  ENAMETOOLONG: t('its name is too long'),
  ELOOP: t('its links lead in a circle'),
};

/** The system's own words where there are no better ones. */
export function reasonOf(error: unknown): string {
  return REASONS[codeOf(error) ?? ''] ?? (error as Error).message;
}

/** Undefined: it is no error of the system. */
export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
