import { ActionIcon, Code, CopyButton, Group, Progress, Text, Tooltip } from '@mantine/core';
import { useState, useSyncExternalStore, type ReactNode } from 'react';
import {
  ago,
  exactTime,
  gigabytes,
  localTime,
  percent,
  secondTime,
  shareText,
  timeOf,
  wholePercent,
} from './format.ts';
import { IconCheck, IconCopy, IconEye } from './icons.tsx';
import { wordsOf } from './messages.tsx';
import { Tag } from './tag.tsx';
import { Minutes } from './minutes.ts';

/** A moment in the viewer's zone; the exact one on hover. */
export function Time({
  at,
  isRelative = false,
  isExact = false,
}: {
  readonly at: string | number | null | undefined;
  readonly isRelative?: boolean;
  /** With its seconds. */
  readonly isExact?: boolean;
}) {
  const date = at === null || at === undefined || at === '' ? undefined : timeOf(at);
  if (!date) return <>–</>;
  return (
    <Tooltip label={exactTime(date)}>
      <time dateTime={date.toISOString()}>
        {isRelative ? <Ago date={date} /> : isExact ? secondTime(date) : localTime(date)}
      </time>
    </Tooltip>
  );
}

const minutes = new Minutes((action, ms) => {
  const timer = window.setInterval(action, ms);
  return () => window.clearInterval(timer);
});

/** Goes on by itself: what was just now when the page was opened is not for ever. */
function Ago({ date }: { readonly date: Date }) {
  useSyncExternalStore(minutes.subscribe, minutes.current);
  return <>{ago(date)}</>;
}

const GOOD =
  /^(?:normal|created|available|in-use|active|enabled|healthy|approved|idle|completed|initialized|obj_normal|online|up|ok)\b/i;
const MOVING =
  /^(?:creating|restoring|hibernating|starting|deleting|rebuild|recovering|scrubbing|shredding|migrating|syncing|running|pending|waiting|rebalanc|stand)/i;
const BAD = /^(?:failed|degraded|absent|emergency|broken|disconnected|locked|denied|critical|error|damaged)/i;

/** `waiting_for_approval` is for programs. */
export function stateText(state: string): string {
  return state.replaceAll('_', ' ');
}

/** A state in its word and a colour; the word alone says it all. */
export function State({ of: state }: { readonly of: string | null | undefined }) {
  if (state === null || state === undefined || state === '') return <>–</>;
  const tone = BAD.test(state) ? 'red' : MOVING.test(state) ? 'blue' : GOOD.test(state) ? 'teal' : 'gray';
  return <Tag tone={tone}>{stateText(state)}</Tag>;
}

interface FillProps {
  readonly used: number;
  readonly size: number;
  readonly label?: string;
  /** To be used up is what it is for. */
  readonly mayBeFull?: boolean;
}

/** How full something is, and how much more than full; amounts in GB. Plain elements: lists have one in each row. */
export function Fill({ used, size, label, mayBeFull = false }: FillProps) {
  const share = percent(used, size);
  const text = shareText(used, size);
  return (
    <div>
      <div className="fill-words">
        <span>{label ?? `${gigabytes(used)} of ${gigabytes(size)}`}</span>
        <span>{text}</span>
      </div>
      <div
        className="fill-bar"
        data-level={levelOf(used, size, mayBeFull)}
        role="progressbar"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={wholePercent(share)}
        aria-valuetext={text}
        aria-label={label ?? `${wholePercent(share)} percent used`}
      >
        <div style={{ width: `${share}%` }} />
      </div>
    </div>
  );
}

function levelOf(used: number, size: number, mayBeFull: boolean): 'high' | 'full' | undefined {
  const share = percent(used, size);
  if (mayBeFull) return used > size ? 'high' : undefined;
  if (share < 75) return undefined;
  return share >= 90 ? 'full' : 'high';
}

/** Work under way. */
export function Working({ value, label }: { readonly value: number; readonly label: string }) {
  return (
    <div>
      <Text size="xs">
        {label}, {wholePercent(value)}%
      </Text>
      <Progress value={wholePercent(value)} size="sm" striped animated aria-label={label} />
    </div>
  );
}

export function Copy({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : label}>
          <ActionIcon variant="subtle" color="gray" onClick={copy} aria-label={copied ? 'Copied' : label}>
            {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}

/** A line to paste into a shell. */
export function CommandText({ text, label = 'Copy the command' }: { readonly text: string; readonly label?: string }) {
  return (
    <Group align="flex-start" wrap="nowrap" gap="xs">
      <Code block className="command" flex={1} tabIndex={0}>
        {text}
      </Code>
      <Copy text={text} label={label} />
    </Group>
  );
}

/** A secret is fetched when somebody asks to see it, not before: the service records who did. */
export function Secret({ reveal, label }: { readonly reveal: () => Promise<string | null>; readonly label: string }) {
  const [shown, setShown] = useState<string | null>();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  if (shown !== undefined) {
    return (
      <Group gap="xs" wrap="nowrap">
        <Code>{shown ?? 'none'}</Code>
        {shown !== null && <Copy text={shown} label={`Copy ${label}`} />}
      </Group>
    );
  }
  const show = () => {
    setBusy(true);
    setProblem(undefined);
    reveal()
      .then(setShown, (error: unknown) => setProblem(wordsOf(error).title))
      .finally(() => setBusy(false));
  };
  return (
    <Group gap="xs" wrap="nowrap">
      <span aria-hidden="true">••••••••</span>
      <Tooltip label={`Show ${label}; this is recorded as an event`}>
        <ActionIcon variant="subtle" color="gray" onClick={show} loading={isBusy} aria-label={`Show ${label}`}>
          <IconEye size={16} />
        </ActionIcon>
      </Tooltip>
      {problem !== undefined && (
        <Text size="xs" c="red" role="alert">
          {problem}
        </Text>
      )}
    </Group>
  );
}

/** Names and values of one record. */
export function Facts({ of: facts }: { readonly of: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value ?? '–'}</dd>
        </div>
      ))}
    </dl>
  );
}
