// Messages between the extension host and the panel's page. Everything in them is data: names and paths of a
// recording are untrusted text and are rendered as text only.
import type { HeatMetric, Measure, Measured } from './measure';
import type { LineDetail } from './panel-detail';
import type { RowAction, RowId } from './panel-rows';
import type { TabAnswer, TabRequest } from './panel-tabs';
import type { LineSummary } from './profile';
import type { Access, CacheLine, Display, ObjectSum, SourcePlace } from './report';

/** The recording's head: what the panel shows above its table. */
export type PanelSummary = Omit<Measured, 'lines' | 'findings' | 'objects' | 'types'> & { title: string; path: string };

/** What bars count, and what they could count. */
export interface PanelHeat {
  metric: HeatMetric;
  measure: Measure;
  /** Everything of the measure in the recording: what shares are shares of. */
  whole: number;
  choices: { metric: HeatMetric; name: string; /** Why this recording does not have it; empty where it has. */ missing: string }[];
  /** Why the setting's metric is not used; empty where it is. */
  instead: string;
}

/** What the table shows of a line while it is folded. */
export interface PanelLine extends Omit<LineSummary, 'data'> {
  /** What its accesses are to, in the report's words: "queue.produced, queue.limit". Untrusted. */
  objects: string;
}

/** In full. */
export interface UnfoldedLine extends CacheLine {
  /** `ProfileLine.id` */
  id: string;
  /** What each access is to, in the report's words. Untrusted. */
  names: string[];
  /** Who waits for whom, in the report's words; absent where nobody is known to. Holds untrusted names. */
  waiting?: string;
}

/** Of a sentence; with the place in the sources that it names. */
export type TextPart = string | { text: string; place: SourcePlace };

/** What the report says first, in printable text. */
export interface PanelWords {
  /** What is contended, and what it costs. */
  summary: string;
  /** What that means, who waits for whom, and what helps; may be empty. */
  meaning: string;
  /** "Look first at …"; may be empty. */
  lookFirst: TextPart[];
  /** A button to profile again: this run could not show contention; else absent. */
  again?: true;
}

/** The advice about what the first paragraph leads with, in printable text. */
export interface PanelAdvice {
  /** What to change, with what is predicted; or that no layout helps. */
  title: string;
  /** What the change gains and costs; empty where no layout helps: then the meaning says what does. */
  words: string;
  /** What its button opens: the edit, the type's card, or nothing. */
  opens: 'preview' | 'card' | 'nothing';
  /** Why there is no edit: a sentence; empty where there is one, and where no layout helps. */
  reason: string;
}

/** More lines than these the page is never sent at once: so many it sorts itself. */
export const MOST_LINES_AT_ONCE = 1000;
/** Of more lines the page gets so many at a time. With the report these are the first of its own order, by which columns are measured. */
export const LINES_OF_SCREEN = 50;
/** Lines in full of which the words of a recording with data sources speak. */
export const LINES_OF_WORDS = 30;
/** Objects that the page names above its table. */
export const MOST_HOTTEST = 4;
/** Accesses that the page gets with the report. */
export const MOST_EXAMPLES = 50;

/** Host to page. */
export type ToPanel =
  | {
      type: 'report';
      /** Another one for each report that is sent. */
      version: number;
      summary: PanelSummary;
      words: PanelWords;
      /** As a person writes it; empty: none. */
      filter: string;
      heat: PanelHeat;
      /** All of them, or some by which columns can be measured: the page then asks for those that come into view. */
      lines: PanelLine[];
      /** In the order in which lines were asked for last: so what a filter leaves need not be asked for. */
      ordered?: OrderedLines;
      /** Accesses of the first of them, by which columns are measured, too. */
      examples: Access[];
      /** How many lines there are. */
      total: number;
      /** Objects, the most contended ones first. */
      hottest: ObjectSum[];
      /** `words` and `hottest` follow as `head`: those of the report before stand until then. */
      headFollows: boolean;
    }
  | { type: 'head'; version: number; words: PanelWords; hottest: ObjectSum[] }
  /** Another metric for the report before it, which has this version now; with lines where it sorts them. */
  | { type: 'heat'; version: number; heat: PanelHeat; ordered?: OrderedLines }
  /** Answers a request for `lines`, whose other fields are repeated. */
  | ({ type: 'lines'; lines: PanelLine[] } & LinesRequest)
  /** Answers a request for `unfold`. */
  | { type: 'unfolded'; version: number; line: UnfoldedLine }
  /** Of the report before it. */
  | ({ type: 'tab' } & TabAnswer)
  /** Answers `painted`. */
  | {
      type: 'advice';
      version: number;
      /** Null: there is none about what the first paragraph leads with. */
      advice: PanelAdvice | null;
      /** Advice beside it. */
      more: number;
      /** Why it could not be had; else empty. */ problem: string;
    }
  /** The samples are read again for the filter that was asked for. */
  | { type: 'filtering'; version: number; /** 0 to 1 */ share: number }
  /** The filter cannot be had, and the one before stays; an empty problem: it was given up for a later one. */
  | { type: 'filterFailed'; version: number; problem: string }
  /** Answers a request for `detail`; null: the filter leaves no such line. */
  | { type: 'detail'; version: number; id: string; detail: LineDetail | null }
  | { type: 'working'; title: string; /** 0 to 1 */ share: number }
  | { type: 'failed'; title: string; message: string; nextStep: string; /** The file can be shown by another editor. */ isFile: boolean }
  | { type: 'empty' };

/** What lines are sorted by. */
export interface RowOrder {
  /** Of a column. */
  key: string;
  descending: boolean;
  /** That the column of shares is of. */
  metric: HeatMetric;
}

/** Of another order than the report's, a screen of the first lines. */
export interface OrderedLines {
  order: RowOrder;
  lines: PanelLine[];
}

/** By which lines are sorted until another order is chosen. */
export const DEFAULT_SORT: Omit<RowOrder, 'metric'> = { key: 'share', descending: true };

/** By HITMs or peer hits, then by address: the report's own order. Of clock samples ties are in another one. */
export function isReportsOrder({ key, descending, metric }: RowOrder): boolean {
  return key === DEFAULT_SORT.key && descending === DEFAULT_SORT.descending && metric === 'hitm';
}

export interface LinesRequest {
  /** Of the report. */
  version: number;
  /** Of a column. */
  key: string;
  descending: boolean;
  offset: number;
}

/** Page to host. */
export type FromPanel =
  /** With the filter of the report that it showed last; empty: none. */
  | { type: 'ready'; filter: string }
  /** The rows of the report are on show: there is time to look for advice. */
  | { type: 'painted'; version: number }
  /** Opens what the button of the advice opens. */
  | { type: 'advice' }
  /** Lets the person choose among all advice. */
  | { type: 'allAdvice' }
  | { type: 'open'; file: string; line: number }
  | ({ type: 'lines'; count: number } & LinesRequest)
  /** A line's accesses are to be shown below it, by its `id`. */
  | { type: 'unfold'; version: number; id: string }
  /** A tab is shown. */
  | ({ type: 'tab'; version: number } & TabRequest)
  | { type: 'filter'; version: number; filter: string }
  /** One line in full, by its `id`. */
  | { type: 'detail'; version: number; id: string }
  | ({ type: 'row'; action: RowAction } & RowId)
  | { type: 'metric'; metric: HeatMetric }
  | { type: 'display'; display: Display }
  /** Texts of a drop, by their type. */
  | { type: 'drop'; data: Record<string, string> }
  /** Lets the person choose a program to profile, or of an empty panel also a recording. */
  | { type: 'profile' }
  | { type: 'openRecording' }
  /** Reads the recording again. */
  | { type: 'retry' }
  /** Shows the file in the text editor instead. */
  | { type: 'reopen' }
  | { type: 'error'; message: string };
