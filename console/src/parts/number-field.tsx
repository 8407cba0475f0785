import { Text, TextInput } from '@mantine/core';
import { useState, type ComponentProps, type KeyboardEvent, type ReactNode } from 'react';
import { gigabytes } from './format.ts';
import { numberProblem, sizeProblem, typedNumber, typedSize, type NumberRange } from './typed-number.ts';

type FieldProps = Pick<
  ComponentProps<typeof TextInput>,
  'label' | 'description' | 'error' | 'required' | 'withAsterisk' | 'placeholder' | 'size'
> & {
  /** NaN where something is typed that is none. */
  readonly value: number | undefined;
  readonly onChange: (value: number | undefined) => void;
  /** What an empty field means, where that is a number. */
  readonly whenEmpty?: number;
};

type NumberFieldProps = FieldProps &
  NumberRange & {
    /** Said behind the number. */
    readonly unit?: string;
    /** By how much the arrow keys change it. */
    readonly step?: number;
  };

/** A number. What is typed stays as it is; what is wrong with it is said below, and no form sends it. */
export function NumberField({ min, max, isDecimal = false, unit, step = 1, ...field }: NumberFieldProps) {
  const range = { min, max, isDecimal };
  const turn = ({ key }: KeyboardEvent) => {
    const up = key === 'ArrowUp' ? step : key === 'ArrowDown' ? -step : 0;
    const next = (field.value ?? field.whenEmpty ?? 0) + up;
    if (up !== 0 && numberProblem(next, range) === undefined) field.onChange(next);
  };
  return (
    <Typed
      {...field}
      read={typedNumber}
      write={String}
      problem={numberProblem(field.value, range)}
      onKeyDown={turn}
      inputMode={isDecimal ? 'decimal' : (min ?? 0) < 0 ? 'text' : 'numeric'}
      {...(unit !== undefined && { behind: unit })}
    />
  );
}

/** A size in MiB, typed with its unit. What it means is said behind it. */
export function SizeField(field: FieldProps) {
  const problem = sizeProblem(field.value);
  const behind = field.value === undefined || problem !== undefined ? '' : `= ${gigabytes(field.value / 1024)}`;
  return <Typed {...field} read={typedSize} write={sizeText} problem={problem} behind={behind} inputMode="text" />;
}

function sizeText(megabytes: number): string {
  return megabytes % 1024 === 0 ? `${megabytes / 1024}G` : `${megabytes}M`;
}

type TypedProps = FieldProps & {
  readonly read: (text: string) => number | undefined;
  readonly write: (value: number) => string;
  readonly problem: string | undefined;
  readonly behind?: string;
  readonly inputMode: 'numeric' | 'decimal' | 'text';
  readonly onKeyDown?: (event: KeyboardEvent) => void;
};

function Typed(props: TypedProps): ReactNode {
  const { read, write, problem, behind = '', value, onChange, whenEmpty, error, ...field } = props;
  const [text, setText] = useState<string>();
  const [isLeft, setLeft] = useState(false);
  const given = value ?? whenEmpty;
  // What the form has is shown where it is not what was typed: a form that was opened, or another record's.
  const isTyped = text !== undefined && Object.is(read(text) ?? whenEmpty, given);
  const shown = isTyped ? text : given === undefined || Number.isNaN(given) ? '' : write(given);
  return (
    <TextInput
      {...field}
      value={shown}
      error={error ?? (isLeft ? problem : undefined)}
      autoComplete="off"
      onChange={({ currentTarget: { value: typed } }) => {
        setText(typed);
        onChange(read(typed));
      }}
      onBlur={() => setLeft(true)}
      rightSectionWidth={behind === '' ? undefined : 90}
      rightSection={
        behind === '' ? undefined : (
          <Text size="sm" c="dimmed">
            {behind}
          </Text>
        )
      }
    />
  );
}
