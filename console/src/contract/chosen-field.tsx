import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ComponentProps } from 'react';
import type { Endpoint } from '@granary/contract';
import type { AnyInput, Op, Reply, SentBy } from '../api/operations.ts';
import { usePlace } from '../api/places.tsx';
import { readOptions } from '../api/queries.ts';
import type { Choice } from './choice.ts';
import { Field } from './field.tsx';

/** What a parameter may name, asked of the service when the form is opened. */
export interface ChoicesFrom {
  readonly op: Op<never>;
  readonly choices: (reply: unknown) => readonly Choice[];
  /** What it is asked for, where that is not what the form has settled. */
  readonly input?: AnyInput;
  /** Said where there is nothing to choose. */
  readonly none: string;
}

/** Keeps the type of the reply among choices of other operations. */
export function choicesFrom<E extends Endpoint>(from: {
  readonly op: Op<E>;
  readonly choices: (reply: Reply<E>) => readonly Choice[];
  readonly input?: SentBy<E>;
  readonly none: string;
}): ChoicesFrom {
  return from as unknown as ChoicesFrom;
}

type ChosenFieldProps = ComponentProps<typeof Field> & {
  readonly from: ChoicesFrom | undefined;
  readonly settled: AnyInput;
};

export function ChosenField({ from, settled, ...field }: ChosenFieldProps) {
  return from ? <ReadField {...field} from={from} settled={settled} /> : <Field {...field} />;
}

function ReadField({ from, settled, ...field }: ChosenFieldProps & { readonly from: ChoicesFrom }) {
  const op = from.op as Op;
  const asked = (from.input ?? settled) as SentBy<Op['endpoint']>;
  const { data } = useQuery(readOptions(op, usePlace(op.api.name), asked));
  const choices = data === undefined ? field.choices : from.choices(data);
  if (choices?.length === 0)
    return (
      <Text
        size="sm"
        c={field.error === undefined ? 'dimmed' : 'red'}
        role={field.error === undefined ? undefined : 'alert'}
      >
        {from.none}
      </Text>
    );
  return <Field {...field} choices={choices} />;
}
