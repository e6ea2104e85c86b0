// uPlot, set up the way all charts of the console look. The only file that knows it.
import uPlot from 'uplot';
import { colour } from './palette';

export interface Line {
  label: string;
  values: (number | null)[];
  colour: 'chart-1' | 'chart-2' | 'chart-3' | 'red' | 'green' | 'blue';
  /** Shown with its unit: `1.2 s`. */
  format: (value: number | null | undefined) => string;
  /** Its own scale at the right. */
  right?: boolean;
}

export interface Mark {
  at: number;
  kind: string;
}

const height = 168;
// Steps between grid lines: whole numbers, because events and seconds are counted in them.
const steps = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();
const leastTop = 4;
const day = 86_400;
const font = '11px system-ui, sans-serif';
/** A time of the day; where several days are shown, the day. */
const timeLabel = (seconds: number, span: number) =>
  span > day
    ? new Date(seconds * 1000).toISOString().slice(5, 10)
    : new Date(seconds * 1000).toISOString().slice(11, 16);
// Lines with the same values lie on one another: the first is the widest, and shows on either side of the next.
const widths = [4, 2.25, 1.25];

/** Points without a neighbour, of which no line tells. */
export function lone(values: readonly (number | null | undefined)[]): number[] {
  return values.flatMap((value, index) =>
    value != null && values[index - 1] == null && values[index + 1] == null ? [index] : [],
  );
}

/** As wide as its longest label. */
function labelWidth(chart: uPlot, values: readonly string[] | null): number {
  if (!values) return 40;
  chart.ctx.save();
  chart.ctx.font = font;
  const widest = Math.max(...values.map((text) => chart.ctx.measureText(text ?? '').width));
  chart.ctx.restore();
  return Math.ceil(widest) + 16;
}

function axis(scale: string, format: Line['format'], side: 1 | 3): uPlot.Axis {
  return {
    scale,
    side,
    size: labelWidth,
    stroke: colour('ink-3'),
    font,
    grid: { show: side === 3, stroke: colour('line'), width: 1 },
    ticks: { show: false },
    incrs: steps,
    values: (_, splits) => splits.map((value) => format(value)),
  };
}

function drawMarks(chart: uPlot, marks: readonly Mark[]): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const mark of marks) {
    const x = Math.round(chart.valToPos(mark.at, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.strokeStyle = colour(mark.kind === 'replay' ? 'blue' : 'ink-2');
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

export interface Chart {
  /** `span`: so many seconds before the last point, whether there are points or not. */
  show(times: number[], lines: readonly Line[], marks: readonly Mark[], span: number): void;
  destroy(): void;
}

/** `pointed` gets the index under the pointer, or null. */
export function draw(into: HTMLElement, lines: readonly Line[], pointed: (index: number | null) => void): Chart {
  let marks: readonly Mark[] = [];
  let shownSpan = 0;
  const right = lines.find((line) => line.right);
  const left = lines.find((line) => !line.right) ?? lines[0]!;
  const options: uPlot.Options = {
    width: Math.max(200, into.clientWidth),
    height,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    padding: [8, right ? 0 : 12, 0, 0],
    scales: { x: { time: true }, y: { range: fromZero }, right: { range: fromZero } },
    axes: [
      {
        stroke: colour('ink-3'),
        font,
        size: 26,
        grid: { show: false },
        ticks: { show: false },
        values: (_, splits) => splits.map((at) => timeLabel(at, shownSpan)),
      },
      axis('y', left.format, 3),
      ...(right ? [axis('right', right.format, 1)] : []),
    ],
    series: [
      {},
      ...lines.map((line, index) => ({
        label: line.label,
        scale: line.right ? 'right' : 'y',
        stroke: colour(line.colour),
        width: widths[Math.min(index, widths.length - 1)]!,
        // What is not known is a gap. A point with a gap on either side is drawn as one.
        points: {
          show: true,
          size: 6,
          fill: colour(line.colour),
          filter: (chart: uPlot, at: number) => lone(Array.from(chart.data[at]!)),
        },
        spanGaps: false,
      })),
    ],
    hooks: {
      draw: [(chart) => drawMarks(chart, marks)],
      setCursor: [(chart) => pointed(chart.cursor.idx ?? null)],
    },
  };
  const chart = new uPlot(options, [[]], into);
  const watcher = new ResizeObserver(() => chart.setSize({ width: Math.max(200, into.clientWidth), height }));
  watcher.observe(into);
  return {
    show(times, shown, newMarks, span) {
      marks = newMarks;
      shownSpan = span;
      const last = times.at(-1) ?? 0;
      chart.batch(() => {
        chart.setData([times, ...shown.map((line) => line.values)] as uPlot.AlignedData);
        chart.setScale('x', { min: last - span, max: last });
      });
    },
    destroy() {
      watcher.disconnect();
      chart.destroy();
    },
  };
}

function fromZero(_: uPlot, __: number, most: number): [number, number] {
  return [0, Math.max(leastTop, (most || 0) * 1.1)];
}
