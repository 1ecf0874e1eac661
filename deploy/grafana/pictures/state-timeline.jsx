import { getFieldDisplayName } from '@grafana/data';
import { theme } from './theme.js';

/** Grafana does not publish its state timeline. This renders the same states in the same colours. */
export function States({ frames, width, height, timeRange, step }) {
  const [from, to] = [timeRange.from.valueOf(), timeRange.to.valueOf()];
  const rows = frames.map((frame) => ({ name: getFieldDisplayName(frame.fields[1], frame, frames), frame }));
  const names = Math.max(90, ...rows.map(({ name }) => 7.6 * name.length + 16));
  const bar = Math.min(40, (height - 54) / rows.length);
  const at = (time) => ((time - from) / (to - from)) * (width - names);
  return (
    <div style={{ height, display: 'flex', flexDirection: 'column', justifyContent: 'space-between' }}>
      <svg width={width} height={bar * rows.length + 20} fontSize={12} fill={theme.colors.text.primary}>
        {rows.map(({ name, frame }, row) => (
          <g key={name} transform={`translate(0 ${row * bar})`}>
            <text x={names - 8} y={bar / 2 + 4} textAnchor="end">
              {name}
            </text>
            {statesOf(frame, step).map(({ start, end, value }) => (
              <rect
                key={start}
                x={names + at(start)}
                y={bar * 0.1}
                width={Math.max(1, at(end) - at(start))}
                height={bar * 0.8}
                fill={frame.fields[1].display(value).color}
                fillOpacity={0.8}
              />
            ))}
          </g>
        ))}
        {[0.1, 0.3, 0.5, 0.7, 0.9].map((share) => (
          <text
            key={share}
            x={names + share * (width - names)}
            y={bar * rows.length + 16}
            textAnchor="middle"
          >
            {new Date(from + share * (to - from)).toISOString().slice(11, 16)}
          </text>
        ))}
      </svg>
    </div>
  );
}

/** Runs of one value; a step without a value ends one. */
function statesOf({ fields: [times, values], length }, step) {
  const states = [];
  for (let index = 0; index < length; index += 1) {
    const [start, value] = [times.values[index], values.values[index]];
    if (value === null) continue;
    const last = states.at(-1);
    const end = start + step * 1000;
    if (last !== undefined && last.value === value && start <= last.end) last.end = end;
    else states.push({ start, end, value });
  }
  return states;
}
