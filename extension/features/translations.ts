// The first import of main.ts: the session's texts are in the editor's language from the start.
import * as vscode from 'vscode';
import { useTranslations } from '../protocol/l10n';

useTranslations(vscode.l10n.bundle);
