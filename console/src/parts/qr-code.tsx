import { generate } from 'lean-qr';
import { useMemo } from 'react';

/** The light border that readers need, in modules. */
const QUIET = 4;
const MODULE_PX = 4;

/** Dark on light in both schemes: many readers know nothing else. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { path, size } = useMemo(() => drawn(text), [text]);
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      width={size * MODULE_PX}
      height={size * MODULE_PX}
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

function drawn(text: string): { readonly path: string; readonly size: number } {
  const code = generate(text);
  const places = Array.from({ length: code.size }, (_, at) => at);
  const dark = places.flatMap((y) => places.filter((x) => code.get(x, y)).map((x) => ({ x, y })));
  const path = dark.map(({ x, y }) => `M${x + QUIET} ${y + QUIET}h1v1h-1z`).join('');
  return { path, size: code.size + 2 * QUIET };
}
