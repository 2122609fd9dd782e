// Messages between the extension host and the panel's page. Everything in them is data: names and paths of a
// recording are untrusted text and are rendered as text only.
import type { CacheLine, ObjectSum, Report } from './report';

/** The recording's head: what the panel shows above its table. */
export type PanelSummary = Omit<Report, 'lines' | 'objects'> & { title: string; path: string };

/** Host to page. */
export type ToPanel = { type: 'report'; summary: PanelSummary; lines: CacheLine[]; objects: ObjectSum[] } | { type: 'empty' };

/** Page to host. */
export type FromPanel = { type: 'ready' } | { type: 'open'; file: string; line: number } | { type: 'error'; message: string };
