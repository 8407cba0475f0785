import { ActionIcon, Alert, Button, Group, Stack, Text, TextInput, Tooltip } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { Endpoint, Param } from '@granary/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type SubmitEvent } from 'react';
import type { AnyInput } from '../api/operations.ts';
import { usePlace } from '../api/places.tsx';
import { useAct } from '../api/queries.ts';
import { useBase, useGo } from '../app/base.ts';
import { useDraft } from '../app/drafts.ts';
import { useIdentity, useMay } from '../app/identity.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { IconTerminal } from '../parts/icons.tsx';
import { Failed } from '../parts/messages.tsx';
import { noticeWithLink } from '../parts/notice.tsx';
import { CommandView } from './command-view.tsx';
import { ChosenField } from './chosen-field.tsx';
import { doneWords, messageIn } from './done-words.ts';
import { enumOf } from './field.tsx';
import { errorInLabels, problemsAt } from './form-errors.ts';
import { asSent, checkedBy, type FieldRules } from './field-rules.ts';
import { formProblems } from './form-problems.ts';
import { showsSecret } from './reply-facts.ts';
import { ReplyView } from './reply-view.tsx';
import { StartedForm } from './started-form.tsx';
import { changesOf, shownOf } from './started-values.ts';
import { offerUndo } from './undo.tsx';
import { draftKey, fieldsOf, labelOfField, openPart, withFiles } from './action-fields.ts';
import { colorOf, type ActionProps } from './action-props.ts';

const NO_RULES: FieldRules = {};

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
