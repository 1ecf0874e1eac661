import { html, type Content, type Markup } from './markup.ts';

/** Rows of a table unless the query asks for all: a page with them fits a few screens of a phone. */
const MAX_ROWS = 10;
const ALL_PARAMETER = 'all';

export interface TableColumn<Row> {
  readonly title: string;
  readonly render: (row: Row) => Content;
  /** Default: `number`. */
  readonly className?: string;
}

interface Table<Row> {
  readonly className: string;
  readonly caption: Content;
  /** The first one has the headings of the rows. */
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly getRowClass?: (row: Row) => string;
  readonly renderNote?: (row: Row) => Markup | undefined;
}

/** Narrow windows show rows of a `wide` table as blocks, without table semantics: ARIA roles restore them. */
export function renderTable<Row>(table: Table<Row>): Markup {
  const { className, caption, columns, rows, getRowClass = () => '', renderNote = () => undefined } = table;
  const [heading, ...others] = columns;
  const renderNoteRow = (note: Markup): Markup =>
    html`<tr role="row" class="problem">
      <td role="cell" colspan="${columns.length}">${note}</td>
    </tr>`;
  return html`<table role="table" class="${className}">
    <caption>
      ${caption}
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        ${columns.map(
          ({ title, className: name = 'number' }) =>
            html`<th role="columnheader" scope="col" class="${name}">${title}</th>`,
        )}
      </tr>
    </thead>
    ${rows.map((row) => {
      const note = renderNote(row);
      return html`<tbody role="rowgroup" class="${getRowClass(row)}">
        <tr role="row">
          <th role="rowheader" scope="row">${heading?.render(row)}</th>
          ${others.map(
            ({ title, className: name = 'number', render }) =>
              html`<td role="cell" class="${name}" data-label="${title}">${render(row)}</td>`,
          )}
        </tr>
        ${note && renderNoteRow(note)}
      </tbody> `;
    })}
  </table>`;
}

/** The first rows, with a link to all of them unless the query asks for them. Nothing without rows. */
export function renderFirstRows<Row>(
  query: URLSearchParams,
  caption: Content,
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  className = columns.length > 3 ? 'wide' : 'short',
): Markup | undefined {
  if (rows.length === 0) return undefined;
  const shown = query.has(ALL_PARAMETER) ? rows : rows.slice(0, MAX_ROWS);
  const all = new URLSearchParams(query);
  all.set(ALL_PARAMETER, '');
  return html`<section>
    ${renderTable({ className, caption, columns, rows: shown })}
    ${shown.length < rows.length ? html`<p><a href="?${all.toString()}">All ${rows.length} rows</a></p>` : ''}
  </section> `;
}
