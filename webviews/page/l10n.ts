// The first import of each page: its texts are translated by the bundle that the host puts into it (features/webview-page.ts).
import { useTranslations } from '../../extension/protocol/l10n';

const { l10n } = document.documentElement.dataset;
if (l10n !== undefined) useTranslations(JSON.parse(l10n) as Record<string, string>);
