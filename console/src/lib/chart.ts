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
const clockTime = (seconds: number) => new Date(seconds * 1000).toISOString().slice(11, 16);

function axis(scale: string, format: Line['format'], side: 1 | 3): uPlot.Axis {
  return {
    scale,
    side,
    size: side === 1 ? 64 : 52,
    stroke: colour('ink-3'),
    font: '11px system-ui, sans-serif',
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
        font: '11px system-ui, sans-serif',
        size: 26,
        grid: { show: false },
        ticks: { show: false },
        values: (_, splits) => splits.map(clockTime),
      },
      axis('y', left.format, 3),
      ...(right ? [axis('right', right.format, 1)] : []),
    ],
    series: [
      {},
      ...lines.map((line) => ({
        label: line.label,
        scale: line.right ? 'right' : 'y',
        stroke: colour(line.colour),
        width: 1.5,
        points: { show: false },
        // A point without deliveries has no latency; the line goes on to the next that has.
        spanGaps: true,
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
