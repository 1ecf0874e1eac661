// The page to capture: one dashboard, with panels rendered by Grafana's components.
import { createRoot } from 'react-dom/client';
import { dateTime, EventBusSrv, ThemeContext, reduceField } from '@grafana/data';
import { BigValue, GlobalStyles, PanelChrome, Table, TimeSeries } from '@grafana/ui';
import { setAppEvents, setPluginImportUtils } from '@grafana/runtime';
import { framesOf } from './frames.js';
import { Head } from './header.jsx';
import { drawMarks, marksOf } from './annotations.js';
import { States } from './state-timeline.jsx';
import { theme } from './theme.js';

/** Grafana's grid: 24 columns, rows of 30 pixels, 8 between them. */
const GRID = { columns: 24, row: 30, gap: 8, margin: 16, head: 92 };

setAppEvents(new EventBusSrv());
setPluginImportUtils({ importPanelPlugin: async () => undefined, getPanelPluginFromCache: () => undefined });

/** Renders a recorded dashboard and returns the height of the page. */
globalThis.drawDashboard = async ({ dashboard, start, end, step, chosen, answers, annotations }, width) => {
  const panels = await Promise.all(
    dashboard.panels.map(async (panel) => ({
      panel,
      frames: panel.type === 'row' ? [] : await framesOf(panel, answers, theme, { start, end, step }),
    })),
  );
  const range = { from: dateTime(start * 1000), to: dateTime(end * 1000) };
  const shared = {
    timeRange: { ...range, raw: range },
    step,
    marks: marksOf(annotations, { start, end, step }),
  };
  const bottom = Math.max(...dashboard.panels.map(({ gridPos: { y, h } }) => y + h));
  const height = GRID.head + bottom * (GRID.row + GRID.gap) + GRID.margin;
  createRoot(document.querySelector('#page')).render(
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <div style={{ position: 'relative', width, height, background: theme.colors.background.canvas }}>
        <div style={{ padding: `14px ${GRID.margin}px` }}>
          <Head title={dashboard.title} chosen={chosen} minutes={Math.round((end - start) / 60)} />
        </div>
        {panels.map(({ panel, frames }) => (
          <Placed key={panel.id} panel={panel} frames={frames} pageWidth={width} shared={shared} />
        ))}
      </div>
    </ThemeContext.Provider>,
  );
  return height;
};

/** Whether the page has not changed for half a second: fonts, icons and plots load late. */
globalThis.isDrawn = () => performance.now() - changedAt > 500;
let changedAt = performance.now();
new MutationObserver(() => {
  changedAt = performance.now();
}).observe(document.documentElement, { childList: true, subtree: true, attributes: true });

function Placed({ panel, frames, pageWidth, shared }) {
  const { x, y, w, h } = panel.gridPos;
  const column = (pageWidth - 2 * GRID.margin + GRID.gap) / GRID.columns;
  const width = Math.floor(w * column - GRID.gap);
  const height = h * (GRID.row + GRID.gap) - GRID.gap;
  const place = {
    position: 'absolute',
    left: GRID.margin + x * column,
    top: GRID.head + y * (GRID.row + GRID.gap),
    width,
    height,
  };
  if (panel.type === 'row')
    return <div style={{ ...place, fontSize: 14, paddingTop: 6 }}>⌄ {panel.title}</div>;
  return (
    <div style={place}>
      <PanelChrome
        title={panel.title}
        description={panel.description}
        width={width}
        height={height}
        padding={panel.type === 'stat' ? 'none' : 'md'}
      >
        {(innerWidth, innerHeight) => (
          <Body panel={panel} frames={frames} width={innerWidth} height={innerHeight} {...shared} />
        )}
      </PanelChrome>
    </div>
  );
}

function Body(props) {
  const { panel, frames } = props;
  if (frames.every(({ length }) => length === 0)) return <Nothing {...props} />;
  switch (panel.type) {
    case 'timeseries':
      return <Lines {...props} />;
    case 'stat':
      return <Stat {...props} />;
    case 'table':
      return <Rows {...props} />;
    case 'state-timeline':
      return <States {...props} />;
    default:
      throw new Error(`Expected a kind of panel that can be drawn, found ${panel.type}`);
  }
}

function Nothing({ panel, height }) {
  return (
    <div style={{ height, display: 'grid', placeItems: 'center', color: theme.colors.text.secondary }}>
      {panel.fieldConfig.defaults.noValue}
    </div>
  );
}

function Lines({ panel, frames, width, height, timeRange, marks }) {
  const { legend } = panel.options;
  return (
    <TimeSeries
      frames={frames}
      width={width}
      height={height}
      timeRange={timeRange}
      timeZone="utc"
      legend={legend}
      options={panel.options}
    >
      {(builder) => {
        builder.addHook('draw', (plot) => drawMarks(plot, marks));
        return null;
      }}
    </TimeSeries>
  );
}

function Stat({ panel, frames, width, height }) {
  const field = frames[0].fields.find(({ type }) => type === 'number');
  const { lastNotNull: last } = reduceField({ field, reducers: ['lastNotNull'] });
  const { colorMode, graphMode } = panel.options;
  return (
    <BigValue
      theme={theme}
      width={width}
      height={height}
      value={field.display(last)}
      colorMode={colorMode}
      graphMode={graphMode}
      textMode="value"
      justifyMode="auto"
    />
  );
}

function Rows({ panel, frames, width, height }) {
  const sortBy = panel.options.sortBy;
  return <Table data={frames[0]} width={width} height={height} initialSortBy={sortBy} cellHeight="sm" />;
}
