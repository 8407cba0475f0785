import type { Endpoint } from '@granary/contract';
import { useQuery } from '@tanstack/react-query';
import { useRef, type ReactNode } from 'react';
import type { AnyInput, Op, Reply, SentBy } from '../api/operations.ts';
import { usePlace } from '../api/places.tsx';
import { readOptions } from '../api/queries.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Reading } from '../parts/reading.tsx';

/** What a form starts with, where the page does not know it: lists of thousands hold a part of each record. */
export interface StartFrom {
  readonly op: Op<never>;
  readonly input: AnyInput;
  readonly start: (reply: unknown) => AnyInput;
}

/** Keeps the type of the reply among forms of other operations. */
export function startFrom<E extends Endpoint>(from: {
  readonly op: Op<E>;
  readonly input: SentBy<E>;
  readonly start: (reply: Reply<E>) => AnyInput;
}): StartFrom {
  return from as unknown as StartFrom;
}

interface StartedFormProps {
  readonly from: StartFrom;
  readonly title: string;
  readonly close: () => void;
  readonly children: (start: AnyInput) => ReactNode;
}

/** Reads what is set, then shows the form. What changes meanwhile does not move under the hands of who fills it. */
export function StartedForm({ from, title, close, children }: StartedFormProps) {
  const op = from.op as Op;
  const reading = useQuery(readOptions(op, usePlace(op.api.name), from.input as SentBy<Op['endpoint']>));
  const begun = useRef<AnyInput>(undefined);
  if (reading.data !== undefined && !reading.isFetching) begun.current ??= from.start(reading.data);
  if (begun.current) return <>{children(begun.current)}</>;
  return (
    <Dialog opened onClose={close} title={title} size="lg">
      <Reading of={reading}>{() => null}</Reading>
    </Dialog>
  );
}
