import { ActionIcon, Alert, Button, Group, Menu, Stack, Text, TextInput, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { pathParams, type Endpoint, type Param } from '@granary/contract';
import { useQueryClient } from '@tanstack/react-query';
import { Fragment, useRef, useState, type SubmitEvent, type ReactNode } from 'react';
import { operationMark, type AnyInput, type Op } from '../api/operations.ts';
import { usePlace } from '../api/places.tsx';
import { useAct, type Done } from '../api/queries.ts';
import { useAddressText, useBase, useGo } from '../app/base.ts';
import { hasDraft, useDraft } from '../app/drafts.ts';
import { useIdentity, useMay } from '../app/identity.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { IconTerminal } from '../parts/icons.tsx';
import { LazyMenu } from '../parts/lazy-menu.tsx';
import { Failed } from '../parts/messages.tsx';
import { noticeWithLink } from '../parts/notice.tsx';
import { words } from '../parts/format.ts';
import { CommandView } from './command-view.tsx';
import { ChosenField, type ChoicesFrom } from './chosen-field.tsx';
import type { Choice } from './choice.ts';
import { doneWords, messageIn } from './done-words.ts';
import { enumOf } from './field.tsx';
import { errorInLabels, problemsAt } from './form-errors.ts';
import { asSent, checkedBy, type FieldRules } from './field-rules.ts';
import { formProblems } from './form-problems.ts';
import { showsSecret } from './reply-facts.ts';
import { ReplyView } from './reply-view.tsx';
import { StartedForm, type StartFrom } from './started-form.tsx';
import { changesOf, shownOf } from './started-values.ts';
import { offerUndo, type Undo } from './undo.tsx';

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

interface ActionButtonProps<E extends Endpoint> extends ActionProps<E> {
  readonly icon?: ReactNode;
  readonly isMain?: boolean;
  readonly isSmall?: boolean;
}

/** A button that opens the form of an operation. Nothing at all where the call would be refused. */
export function ActionButton<E extends Endpoint>(props: ActionButtonProps<E>) {
  const { open, form } = useForm([action(props)]);
  return (
    <>
      <FormButton {...props} onClick={() => open(action(props))} />
      {form}
    </>
  );
}

/**
 * The form that is open, of these actions. It stays with what was typed when its action is offered no longer, as where the
 * record is in another state now, or its array is locked.
 */
function useForm(actions: readonly ActionProps<never>[]) {
  const [shown, setShown] = useState(() => actions.find((one) => hasDraft(draftKey(one))));
  const [asked, setAsked] = useAddressText('do');
  const may = useMay();
  // The palette leads to a page and has it open a form; nothing is sent before a person has seen it.
  const wanted = actions.find(
    ({ op, label, destroys, input }) => label === asked && destroys === undefined && may(op as Op, input),
  );
  const current = useRef(shown);
  const chosen = shown ?? wanted ?? (current.current?.label === asked ? current.current : undefined);
  const isChosen = ({ op, label }: ActionProps<never>) => label === chosen?.label && op.id === chosen.op.id;
  // With what was read since it was opened, such as choices.
  current.current = actions.find(isChosen) ?? chosen;
  const close = () => {
    setShown(undefined);
    if (current.current?.label === asked) setAsked('');
  };
  return { open: setShown, form: current.current && <ActionDialog {...current.current} close={close} /> };
}

/** The actions of one record: some as buttons, the others behind one. */
export function ActionBar(props: {
  readonly buttons: readonly ActionProps<never>[];
  readonly menu: readonly ActionProps<never>[];
  /** Of the button for the menu. */
  readonly label: string;
  readonly isMain?: boolean;
}) {
  const { buttons, menu, label, isMain = false } = props;
  const { open, form } = useForm(buttons);
  return (
    <>
      {buttons.map((one) => (
        <FormButton key={one.label} {...one} isMain={isMain} onClick={() => open(one)} />
      ))}
      <ActionMenu label={label} isButton actions={menu} />
      {form}
    </>
  );
}

/** The button alone, where the form has to outlive what the button stands in. */
export function FormButton<E extends Endpoint>(props: ActionButtonProps<E> & { readonly onClick: () => void }) {
  const may = useMay();
  if (!may(props.op, props.input)) return null;
  return (
    <Button
      onClick={props.onClick}
      leftSection={props.icon}
      size={props.isSmall ? 'xs' : 'sm'}
      variant={props.isMain ? 'filled' : 'default'}
      color={colorOf(props)}
      {...operationMark(props.op, props.input)}
    >
      {props.label}
    </Button>
  );
}

/** The actions of one record behind one button. */
export function ActionMenu({
  label,
  actions,
  isButton = false,
}: {
  readonly label: string;
  /** With its word, where there is room. */
  readonly isButton?: boolean;
  readonly actions: readonly ActionProps<never>[];
}) {
  const [open, setOpen] = useState(() => actions.find((action) => hasDraft(draftKey(action))));
  const may = useMay();
  const allowed = actions.filter(({ op, input }) => may(op as Op, input));
  if (allowed.length === 0 && !open) return null;
  return (
    <>
      {allowed.length > 0 && (
        <LazyMenu
          label={label}
          isButton={isButton}
          items={() =>
            [...Map.groupBy(allowed, ({ section }) => section)].map(([section, all]) => (
              <Fragment key={section ?? ''}>
                {section !== undefined && <Menu.Label>{section}</Menu.Label>}
                {all.map((action) => (
                  <Menu.Item
                    key={action.label}
                    color={colorOf(action)}
                    onClick={() => setOpen(action)}
                    {...operationMark(action.op as Op, action.input)}
                  >
                    {action.label}
                  </Menu.Item>
                ))}
              </Fragment>
            ))
          }
        />
      )}
      {open && <ActionDialog {...open} close={() => setOpen(undefined)} />}
    </>
  );
}

/** Keeps the types of an action among actions of other operations. */
export function action<E extends Endpoint>(props: ActionProps<E>): ActionProps<never> {
  return props as unknown as ActionProps<never>;
}

interface DialogProps<E extends Endpoint> extends ActionProps<E> {
  readonly close: () => void;
}

export function ActionDialog<E extends Endpoint>(props: DialogProps<E>) {
  const { startFrom, label, close } = props;
  if (!startFrom) return <FormDialog {...props} />;
  return (
    <StartedForm from={startFrom} title={label} close={close}>
      {(start) => <FormDialog {...props} start={start} />}
    </StartedForm>
  );
}

function FormDialog<E extends Endpoint>(props: DialogProps<E>) {
  const { op, label, input = {}, destroys, about, close } = props;
  // Of a form that starts with what is set: what it changes.
  const [edits, setEdits] = useDraft<AnyInput>(
    draftKey(props),
    () => (props.startFrom ? {} : (props.start ?? {})),
    (typed) => openPart(op.endpoint, typed),
  );
  const given = props.startFrom ? shownOf(edits, props.start) : edits;
  const [typed, setTyped] = useState('');
  const [isMore, setMore] = useState(false);
  const [isCommand, setCommand] = useState(false);
  const [reply, setReply] = useState<unknown>();
  // What was typed is done with then: the secret is what is to be seen.
  const hasSecret = showsSecret(op.endpoint, reply);
  const acting = useAct(op);
  const rules = props.rules ?? NO_RULES;
  const whole = asSent(rules, { ...input, ...(props.startFrom ? changesOf(edits, props.start) : edits) });
  const { asked, folded } = fieldsOf(op.endpoint, props);
  const all = [...asked, ...folded];
  const shownFields = isMore ? all : asked;
  const formWords = { labelOf: (name: string) => (all.includes(name) ? labelOfField(props, name) : undefined) };
  const problemsSaid = problemsAt(acting.error, all, formWords);
  const [isTried, setTried] = useState(false);
  const known = formProblems(
    {
      endpoint: op.endpoint,
      names: all,
      labelOf: (name) => labelOfField(props, name),
      isChosen,
      ...(props.startFrom && props.start && { start: props.start }),
    },
    given,
  );
  const checked = checkedBy(rules, given);
  for (const [name, problem] of checked) known.set(name, problem);
  const problems = isTried && known.size > 0 ? known : new Map([...problemsSaid, ...checked]);
  // What stands at its field needs no second place.
  const isAtFields = problems.size > 0 && [...problems.keys()].every((name) => shownFields.includes(name));
  const place = usePlace(op.api.name);
  const client = useQueryClient();
  const base = useBase();
  const go = useGo();
  const announce = (message: string) => {
    const page = props.leadsTo?.(whole);
    if (props.undo) offerUndo(message, [props.undo], { client, place });
    else if (page !== undefined) noticeWithLink(message, `${base}${page}`, () => go(page));
    else notifications.show({ color: 'teal', message });
  };
  const isConfirmed = destroys === undefined || typed === destroys;
  const isOffered = useMay()(op, input);
  const isLocked = useIdentity(op.api.name)?.isLocked === true;

  function isChosen(name: string): boolean {
    const param = op.endpoint.params[name];
    const choices = props.choices?.[name] ?? props.choicesFrom?.[name] ?? (param && enumOf(name, param));
    return choices !== undefined;
  }

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = event.currentTarget as HTMLElement;
    if (known.size > 0) {
      setTried(true);
      showProblems(form, known);
      return;
    }
    try {
      const done = await acting.mutateAsync((await withFiles(whole)) as never);
      announce(done.goesOn ?? props.said ?? messageIn(done.value) ?? doneWords(props));
      props.onDone?.(done, whole);
      if (props.showsReply || showsSecret(op.endpoint, done.value)) setReply(done.value);
      else close();
    } catch (error) {
      // Shown in the dialog.
      showProblems(form, problemsAt(error as Error, folded, formWords));
    }
  }

  /** Unfolds what is wrong among the folded fields, and goes to the first. */
  function showProblems(form: HTMLElement, wrong: ReadonlyMap<string, string>): void {
    if (folded.some((name) => wrong.has(name))) setMore(true);
    if (wrong.size > 0) setTimeout(() => focusProblem(form));
  }

  const field = (name: string) => (
    <ChosenField
      key={name}
      name={name}
      param={op.endpoint.params[name] as Param}
      label={props.labels?.[name]}
      choices={props.choices?.[name]}
      from={props.choicesFrom?.[name]}
      settled={input}
      value={given[name]}
      hint={rules[name]?.hint}
      error={problems.get(name)}
      isKnown={props.start?.[name] !== undefined}
      onChange={(value) => setEdits((before) => ({ ...before, [name]: value }))}
    />
  );

  return (
    <Dialog
      opened
      onClose={close}
      title={destroys === undefined ? label : `${label}: ${destroys}`}
      size="lg"
      // What is shown once is not lost by a click beside it.
      closeOnClickOutside={reply === undefined}
    >
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack>
          {about !== undefined && (
            <Text size="sm" component="div">
              {about}
            </Text>
          )}
          {!hasSecret && asked.map(field)}
          {!hasSecret && folded.length > 0 && (
            <Button
              variant="subtle"
              size="xs"
              w="fit-content"
              maw="100%"
              h="auto"
              mih={30}
              styles={{ label: { whiteSpace: 'normal', textAlign: 'left', lineHeight: 1.4 } }}
              onClick={() => setMore(!isMore)}
              aria-expanded={isMore}
            >
              {isMore
                ? 'Less'
                : `More: ${folded
                    .slice(0, 3)
                    .map((name) => labelOfField(props, name))
                    .join(', ')}${folded.length > 3 ? ' …' : ''}`}
            </Button>
          )}
          {!hasSecret && isMore && folded.map(field)}
          {props.preview?.(whole)}
          {destroys !== undefined && (
            <Alert color="red" variant="light">
              <TextInput
                label={`Type ${destroys} to confirm`}
                value={typed}
                onChange={(event) => setTyped(event.currentTarget.value)}
                autoComplete="off"
                data-autofocus
              />
            </Alert>
          )}
          {!isOffered && <NotOffered isLocked={isLocked} />}
          {acting.error && !isAtFields && <Failed error={errorInLabels(acting.error, formWords)} />}
          {reply !== undefined && props.besideReply?.(whole)}
          {reply !== undefined && <ReplyView endpoint={op.endpoint} value={reply} />}
          {isCommand && <CommandView op={op} input={whole} />}
          <Group justify="space-between">
            <Tooltip label="Show as command">
              <ActionIcon
                variant={isCommand ? 'light' : 'default'}
                size="lg"
                onClick={() => setCommand(!isCommand)}
                aria-label="Show as command"
                aria-pressed={isCommand}
              >
                <IconTerminal />
              </ActionIcon>
            </Tooltip>
            <Group>
              <Button variant="default" onClick={close}>
                {reply === undefined ? 'Cancel' : 'Close'}
              </Button>
              {reply === undefined && (
                <Button
                  type="submit"
                  loading={acting.isPending}
                  disabled={!isConfirmed || !isOffered}
                  color={colorOf(props)}
                >
                  {label}
                </Button>
              )}
            </Group>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

/** What happened while the form was open. */
function NotOffered({ isLocked }: { readonly isLocked: boolean }) {
  return (
    <Alert color="yellow" role="status" title={isLocked ? 'Locked down' : 'You may not do this any more'}>
      {isLocked
        ? 'The array takes no change until an administrator releases it. What you typed stays here.'
        : 'Your role has changed. What you typed stays here until you close the form.'}
    </Alert>
  );
}

/** The first field that is wrong may be out of view. */
function focusProblem(form: HTMLElement): void {
  form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
}

/** Of the buttons of an action: red where it cannot be undone. */
function colorOf({ destroys, isFinal }: Pick<ActionProps, 'destroys' | 'isFinal'>): string | undefined {
  return destroys === undefined && isFinal !== true ? undefined : 'red';
}

const NO_RULES: FieldRules = {};

/** A form by what it is for. */
function draftKey({ op, label, input = {} }: Pick<ActionProps, 'op' | 'label' | 'input'>): string {
  return JSON.stringify([op.api.name, op.id, label, input]);
}

/** What may be kept of a form while nobody is signed in: no secret, and no file. */
function openPart({ params }: Endpoint, given: AnyInput): AnyInput {
  const isOpen = ([name, value]: [string, unknown]) => params[name]?.secret !== true && !(value instanceof File);
  return Object.fromEntries(Object.entries(given).filter(isOpen));
}

/** A file is read when the form is sent. */
async function withFiles(input: AnyInput): Promise<AnyInput> {
  const entries = Object.entries(input).map(async ([name, value]) => {
    if (!(value instanceof File)) return [name, value] as const;
    return [name, { filename: value.name, bytes: new Uint8Array(await value.arrayBuffer()) }] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** Parameters for programs: a form neither asks for them nor offers them. */
const NOT_ASKED = new Set(['timeout', 'access_key', 'start', 'limit']);

function fieldsOf(
  endpoint: Endpoint,
  { input = {}, fields, more = 'all' }: Pick<ActionProps, 'input' | 'fields' | 'more'>,
) {
  const inPath = pathParams(endpoint.path);
  const open = Object.keys(endpoint.params).filter((name) => !(name in input) && !NOT_ASKED.has(name));
  const required = open.filter((name) => endpoint.params[name]?.presence === 'required' || inPath.includes(name));
  const isShort = open.length <= 6;
  const asked = fields ?? (isShort ? open : required);
  const rest = open.filter((name) => !asked.includes(name));
  return { asked, folded: more === 'all' ? rest : more };
}

function labelOfField({ labels }: Pick<ActionProps, 'labels'>, name: string): string {
  return labels?.[name] ?? words(name);
}
