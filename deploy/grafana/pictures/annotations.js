import { theme } from './theme.js';

/** Regions while a value is above 0, or lines at the times that are values, as Grafana draws annotations. */
export function marksOf(annotations, { start, end, step }) {
  return annotations.flatMap(({ iconColor, useValueForTime, answer }) =>
    answer.data.result.flatMap(({ values }) => {
      const moments = values
        .map(([time, value]) =>
          useValueForTime ? Number(value) / 1000 : Number(value) > 0 ? time : Number.NaN,
        )
        .filter((time) => time >= start && time <= end);
      return regionsOf(moments, step).map(([from, to]) => ({ from, to, color: iconColor }));
    }),
  );
}

function regionsOf(moments, step) {
  const regions = [];
  for (const moment of moments) {
    const last = regions.at(-1);
    if (last !== undefined && moment - last[1] <= 3 * step) last[1] = moment;
    else regions.push([moment, moment]);
  }
  return regions;
}

export function drawMarks({ ctx, bbox, valToPos }, marks) {
  ctx.save();
  for (const { from, to, color } of marks) {
    const [left, right] = [from, to].map((time) => valToPos(time * 1000, 'x', true));
    const shade = theme.visualization.getColorByName(color);
    ctx.fillStyle = shade;
    ctx.globalAlpha = 0.12;
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
    ctx.globalAlpha = 0.8;
    for (const edge of new Set([left, right])) ctx.fillRect(edge, bbox.top, 1, bbox.height);
  }
  ctx.restore();
}
