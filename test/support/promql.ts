import { parser } from '@prometheus-io/lezer-promql';

type SyntaxNode = ReturnType<typeof parser.parse>['topNode'];

/** A vector selector of an expression: one metric, and the labels of its matchers. */
export interface Selector {
  readonly metric: string;
  readonly labels: readonly string[];
}

/** Lists the vector selectors of a PromQL expression. Throws if it does not parse. */
export function parseSelectors(expression: string): readonly Selector[] {
  return findNodes(expression, 'VectorSelector').flatMap((selector) => readSelector(expression, selector));
}

/** Lists the names of the metrics in a PromQL expression. Throws if it does not parse. */
export function listMetricNames(expression: string): ReadonlySet<string> {
  return new Set(parseSelectors(expression).map(({ metric }) => metric));
}

/**
 * Lists the selectors that a join takes one series of for each of many, and that nothing aggregates: if an
 * instance is several targets, they fail the query. `ignoring` keeps the targets apart, and recorded series
 * are aggregated.
 */
export function findUnaggregatedJoins(expression: string): readonly string[] {
  return findNodes(expression, 'BinaryExpr').flatMap((join) => {
    const modifiers = join.getChild('MatchingModifierClause');
    if (modifiers?.getChild('Ignoring')) return [];
    const one = modifiers?.getChild('GroupLeft')
      ? join.lastChild
      : modifiers?.getChild('GroupRight') && join.firstChild;
    return findNodes(expression, 'VectorSelector')
      .filter((selector) => one && isWithin(selector, one) && !isAggregated(selector, one))
      .map(({ from, to }) => expression.slice(from, to))
      .filter((selector) => !/^\w+:/.test(selector));
  });
}

function isWithin({ from, to }: SyntaxNode, outer: SyntaxNode): boolean {
  return from >= outer.from && to <= outer.to;
}

/** Tells whether an aggregation within `outer` contains a node. */
function isAggregated(node: SyntaxNode, outer: SyntaxNode): boolean {
  if (node.name === 'AggregateExpr') return true;
  return node.parent !== null && isWithin(node.parent, outer) && isAggregated(node.parent, outer);
}

/** The labels that `by`, `without`, `on` or `ignoring` lists. */
export interface LabelList {
  readonly modifier: 'By' | 'Without' | 'On' | 'Ignoring';
  readonly labels: readonly string[];
}

/** Lists what aggregations and joins keep or drop. Throws if the expression does not parse. */
export function listLabelLists(expression: string): readonly LabelList[] {
  const modifiers = ['By', 'Without', 'On', 'Ignoring'] as const;
  return modifiers.flatMap((modifier) =>
    findNodes(expression, modifier).map(({ nextSibling }) => ({
      modifier,
      labels: (nextSibling?.getChildren('LabelName') ?? []).map(({ from, to }) => expression.slice(from, to)),
    })),
  );
}

/** Replaces each duration of an expression, in ranges, subqueries and offsets. */
export function replaceDurations(expression: string, replace: (duration: string) => string): string {
  let replaced = expression;
  for (const { from, to } of findNodes(expression, 'NumberDurationLiteralInDurationContext').toReversed()) {
    replaced = replaced.slice(0, from) + replace(expression.slice(from, to)) + replaced.slice(to);
  }
  return replaced;
}

/** Lists all nodes of one kind, in the order of the text. */
function findNodes(expression: string, kind: string): readonly SyntaxNode[] {
  const nodes: SyntaxNode[] = [];
  parser.parse(expression).iterate({
    enter: ({ type, node, from }) => {
      if (type.isError) {
        const rest = JSON.stringify(expression.slice(from, from + 40));
        throw new SyntaxError(`Expected PromQL, found ${rest} at ${from} of ${JSON.stringify(expression)}`);
      }
      if (type.name === kind) nodes.push(node);
    },
  });
  return nodes;
}

/** Returns one selector for each metric that it matches: two for `{__name__=~"a|b"}`. */
function readSelector(expression: string, selector: SyntaxNode): readonly Selector[] {
  const textOf = (node: SyntaxNode): string => expression.slice(node.from, node.to);
  const matchers = selector.getChild('LabelMatchers');
  const matches = (matchers?.getChildren('UnquotedLabelMatcher') ?? []).map((matcher) => ({
    label: textOf(matcher.firstChild ?? matcher),
    value: textOf(matcher.lastChild ?? matcher).slice(1, -1),
  }));
  const named = [selector.getChild('Identifier'), matchers?.getChild('QuotedLabelName')].flatMap((name) =>
    name ? [textOf(name).replaceAll(/["']/g, '')] : [],
  );
  const matched = matches
    .filter(({ label }) => label === '__name__')
    .flatMap(({ value }) => value.split('|'));
  const metrics = [...named, ...matched];
  if (metrics.length === 0 || !metrics.every((metric) => /^[\w:]+$/.test(metric))) {
    throw new SyntaxError(`Expected a selector that names its metrics, found ${textOf(selector)}`);
  }
  const labels = matches.map(({ label }) => label).filter((label) => label !== '__name__');
  return metrics.map((metric) => ({ metric, labels }));
}
