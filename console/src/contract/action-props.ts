import type { Endpoint } from '@granary/contract';
import type { ReactNode } from 'react';
import type { AnyInput, Op } from '../api/operations.ts';
import type { Done } from '../api/queries.ts';
import type { ChoicesFrom } from './chosen-field.tsx';
import type { Choice } from './choice.ts';
import type { FieldRules } from './field-rules.ts';
import type { StartFrom } from './started-form.tsx';
import type { Undo } from './undo.tsx';

/** What an action needs beside its operation; most of it follows from the contract. */
export interface ActionProps<E extends Endpoint = Endpoint> {
  readonly op: Op<E>;
  readonly label: string;
  /** Under which heading it stands in a menu of many. */
  readonly section?: string;
  /** Parameters that are settled: not asked for. */
  readonly input?: AnyInput;
  /** Values that the form starts with. */
  readonly start?: AnyInput;
  /** Reads what is set when the form is opened; then what was not changed is not sent. */
  readonly startFrom?: StartFrom;
  /** Which parameters are asked for, in this order; by default all that are not settled. The rest is under "More". */
  readonly fields?: readonly string[];
  /** Also shown, but folded away. `'all'`: all others. */
  readonly more?: readonly string[] | 'all';
  readonly labels?: Readonly<Record<string, string>>;
  readonly choices?: Readonly<Record<string, readonly Choice[]>>;
  /** Choices that are read when the form is opened, by the parameters that are settled. */
  readonly choicesFrom?: Readonly<Record<string, ChoicesFrom>>;
  /** What the page knows of its fields. */
  readonly rules?: FieldRules;
  /** Says what is about to happen. */
  readonly about?: ReactNode;
  /** Below the form: what comes of what was given so far. */
  readonly preview?: (input: AnyInput) => ReactNode;
  /** Destroys data: its name has to be typed. */
  readonly destroys?: string;
  /** It cannot be undone, though nothing is typed to confirm it: its button is red. */
  readonly isFinal?: boolean;
  /** The record cannot be shown any more when it is done: its own page is left. */
  readonly takesAway?: boolean;
  /** What is said when it is done. */
  readonly said?: string;
  /** The page of what was made, by what was given: the notice has a link to it. */
  readonly leadsTo?: (input: AnyInput) => string;
  /** Shows what came back, where no page does. */
  readonly showsReply?: boolean;
  /** What belongs beside the reply, by what was given. */
  readonly besideReply?: (input: AnyInput) => ReactNode;
  /** The call that takes it back, where there is one. */
  readonly undo?: Undo;
  readonly onDone?: (done: Done<E>, input: AnyInput) => void;
}

/** Keeps the types of an action among actions of other operations. */
export function action<E extends Endpoint>(props: ActionProps<E>): ActionProps<never> {
  return props as unknown as ActionProps<never>;
}

/** Of the buttons of an action: red where it cannot be undone. */
export function colorOf({ destroys, isFinal }: Pick<ActionProps, 'destroys' | 'isFinal'>): string | undefined {
  return destroys === undefined && isFinal !== true ? undefined : 'red';
}
