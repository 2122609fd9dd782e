// The view "Contended Data": types, fields, cache lines and accesses of the current profile, each opening its
// source. View: cacheline.contended. Command: cacheline.openSource (a place of the report).
import * as vscode from 'vscode';
import type { SourcePlace } from '../protocol/report';
import { printable } from '../protocol/printable';
import { contendedTree, emptyTreeText, type TreeNode, type TreeSource } from '../session/profile/contended-tree';
import type { CurrentProfile } from './current-profile';
import type { HeatMetricChoice } from './heat-metric';
import { showWarning } from './notify';
import type { SourceDocuments } from './source-documents';

const ICONS: Record<TreeNode['kind'], string> = {
  type: 'symbol-structure',
  object: 'symbol-variable',
  field: 'symbol-field',
  line: 'layout-panel',
  access: 'symbol-method',
  more: 'ellipsis',
};

export class ContendedTree implements vscode.TreeDataProvider<TreeNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<TreeNode>;
  private readonly subscriptions: { dispose(): void }[];
  private readonly parents = new WeakMap<TreeNode, TreeNode>();
  private roots: Promise<TreeNode[]> | undefined;

  constructor(
    private readonly current: CurrentProfile,
    private readonly documents: SourceDocuments,
    private readonly metric: HeatMetricChoice,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.view = vscode.window.createTreeView('cacheline.contended', { treeDataProvider: this, showCollapseAll: true });
    const again = (): void => {
      this.roots = undefined;
      this.changed.fire(undefined);
      void this.describe();
    };
    this.subscriptions = [this.changed, this.view, current.onDidChange(again), metric.onDidSettle(again)];
    void this.describe();
  }

  async getChildren(node?: TreeNode): Promise<TreeNode[]> {
    if (!node) return this.all();
    try {
      const children = await node.children();
      for (const child of children) this.parents.set(child, node);
      return children;
    } catch (error) {
      this.log.error(`${node.text}: ${String(error)}`);
      return [];
    }
  }

  getParent(node: TreeNode): TreeNode | undefined {
    return this.parents.get(node);
  }

  getTreeItem(node: TreeNode): vscode.TreeItem {
    const { None, Collapsed } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(node.label, node.expandable ? Collapsed : None);
    item.description = node.description;
    item.tooltip = node.text;
    item.accessibilityInformation = { label: node.text };
    const color = node.step === undefined ? undefined : new vscode.ThemeColor(`cacheline.heat${node.step}`);
    item.iconPath = new vscode.ThemeIcon(ICONS[node.kind], color);
    item.contextValue = node.kind;
    if (node.place) item.command = { command: 'cacheline.openSource', title: vscode.l10n.t('Open Source'), arguments: [node.place] };
    if (node.kind === 'more') item.command = { command: 'cacheline.showPanel', title: vscode.l10n.t('Show Contended Lines') };
    return item;
  }

  /** Command: cacheline.openSource. */
  async open(argument: unknown): Promise<void> {
    const place = argument as Partial<SourcePlace> | undefined;
    if (typeof place?.file !== 'string' || typeof place.line !== 'number') return;
    const found = this.documents.find({ file: place.file, line: place.line });
    if (!found) {
      void showWarning(this.documents.whyNotFound({ file: place.file, line: place.line }));
      return;
    }
    const position = new vscode.Position(found.line, 0);
    // The keyboard stays in the tree, to walk on in it.
    const options = { selection: new vscode.Range(position, position), preserveFocus: true };
    await vscode.window.showTextDocument(found.uri, options).then(undefined, (error: unknown) => {
      this.log.warn(String(error));
      void showWarning(
        vscode.l10n.t('{0}:{1} cannot be opened. The file was removed or cannot be read.', found.uri.fsPath, found.line + 1),
      );
    });
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  private all(): Promise<TreeNode[]> {
    this.roots ??= this.make();
    return this.roots;
  }

  private async make(): Promise<TreeNode[]> {
    const profile = this.current.get();
    if (!profile) return [];
    const { report } = profile;
    const { measure } = this.metric.of(report);
    try {
      const lines: TreeSource['lines'] = (choice, by) => profile.lines(choice, by);
      return contendedTree({ report, data: await profile.dataBy(measure), lines }, measure);
    } catch (error) {
      this.log.error(`${profile.path}: ${String(error)}`);
      return [];
    }
  }

  /** What the view says beside its nodes; without a profile its welcome text says what to do. */
  private async describe(): Promise<void> {
    const profile = this.current.get();
    this.view.description = printable(profile?.title ?? '');
    this.view.message = '';
    const empty = profile && (await this.all()).length === 0;
    if (empty && this.current.get() === profile) this.view.message = emptyTreeText(profile.report);
  }
}
