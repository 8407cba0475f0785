import {
  Checkbox,
  FileInput,
  Input,
  JsonInput,
  PasswordInput,
  Select,
  SegmentedControl,
  Stack,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import type { Param } from '@granary/contract';
import { words } from '../parts/format.ts';
import { NumberField } from '../parts/number-field.tsx';
import type { Choice } from './choice.ts';
import { inBinaryUnits } from '../parts/wording.ts';
import { hintOf, leftOutWords } from './hints.ts';
import { severities } from '../parts/severity.tsx';
import { AMOUNT, asNumber, rangeOf } from './form-problems.ts';

interface FieldProps {
  readonly name: string;
  readonly param: Param;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly error?: string | undefined;
  readonly label?: string | undefined;
  /** What it may name, where the page knows. */
  readonly choices?: readonly Choice[] | undefined;
  /** In place of what the declaration says of it. */
  readonly hint?: string | undefined;
  /** The form starts with the value that it has. */
  readonly isKnown?: boolean | undefined;
}

const YES_OR_NO: readonly Choice[] = [
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
];
/** The numbers of the syslog scale, in words. */
const SEVERITIES: Choice[] = severities.map((label, value) => ({ value: String(value), label }));
/** Said with a call, about that call: left out, they are not asked for. */
const DEEDS = new Set(['force', 'adopt', 'renew_secret']);

type Schema = Readonly<Record<string, unknown>>;

/** The input for a parameter, as its declaration says: its kind, limits, choices, description and example. */
export function Field(props: FieldProps) {
  const { name, param, value, onChange, error, choices } = props;
  const schema = param.schema as unknown as Schema;
  const isRequired = param.presence === 'required';
  const label = props.label ?? words(name);
  const common = {
    label,
    // What there is to choose says more than the name of its key.
    description: props.hint ?? (choices && props.label !== undefined ? '' : hintOf(descriptionOf(param), label)),
    required: isRequired,
    withAsterisk: isRequired,
    error,
  };
  const text = typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
  // Emptied where an empty text is a value: what was there is removed, not kept.
  const emptied = props.isKnown === true && schema['minLength'] === 0 ? '' : undefined;
  const setText = (given: string | null) => onChange(given === null || given === '' ? emptied : given);
  const values = choices ?? enumOf(name, param);

  if (values && param.kind === 'list') {
    return (
      <Checkbox.Group {...common} value={(value as string[] | undefined) ?? []} onChange={onChange}>
        <Stack gap={4} mt={4}>
          {values.map((choice) => (
            <Checkbox key={choice.value} value={choice.value} label={choice.label} />
          ))}
          {values.length === 0 && <Text size="sm">There is nothing to choose.</Text>}
        </Stack>
      </Checkbox.Group>
    );
  }
  if (choices && param.kind === 'json')
    return <Amounts {...common} choices={choices} value={value} onChange={onChange} />;
  if (values && (isYesNo(values) || param.kind === 'boolean'))
    return <Switching {...common} {...{ param, text, values }} isKnown={props.isKnown} onChange={setText} />;
  if (values) {
    return (
      <Select
        {...common}
        data={[...values]}
        value={text === '' ? null : text}
        onChange={setText}
        clearable={!isRequired}
        searchable={values.length > 8}
        placeholder={placeholderOf(param, values)}
      />
    );
  }
  if (param.secret) {
    return (
      <PasswordInput
        {...common}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        autoComplete="new-password"
      />
    );
  }
  switch (param.kind) {
    case 'boolean':
      // An empty box would say "no" where nothing is changed, or the array's own choice holds.
      if (param.presence !== 'defaulted' && props.isKnown !== true && !DEEDS.has(name))
        return (
          <Switching
            {...common}
            param={param}
            text={text}
            values={YES_OR_NO}
            onChange={(given) => onChange(given === null || given === '' ? undefined : given === 'true')}
          />
        );
      return (
        <Checkbox
          label={common.label}
          description={common.description}
          error={error}
          checked={(value ?? param.default) === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
    case 'integer':
    case 'number':
      return (
        <NumberField
          {...common}
          {...rangeOf(param)}
          value={asNumber(value)}
          onChange={onChange}
          placeholder={placeholderOf(param)}
        />
      );
    case 'list':
      return <TagsInput {...common} value={(value as string[] | undefined) ?? []} onChange={onChange} />;
    case 'json':
      return (
        <JsonInput
          {...common}
          value={typeof value === 'string' || value === undefined ? text : JSON.stringify(value)}
          onChange={setText}
          autosize
          minRows={3}
          formatOnBlur
          placeholder={param.example === undefined ? undefined : JSON.stringify(param.example)}
        />
      );
    case 'file':
      return <FileInput {...common} value={(value as File | undefined) ?? null} onChange={onChange} clearable />;
    default: {
      const isLong = Number(schema['maxLength'] ?? 0) > 512;
      const Control = isLong ? Textarea : TextInput;
      return (
        <Control
          {...common}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          placeholder={placeholderOf(param)}
          maxLength={schema['maxLength'] as number | undefined}
        />
      );
    }
  }
}

interface AmountsProps {
  readonly label: string;
  readonly description: string;
  readonly error: string | undefined;
  readonly choices: readonly Choice[];
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

/** How many of each: `{SSD_10GB: 2}`. */
function Amounts({ label, description, error, choices, value, onChange }: AmountsProps) {
  const given = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, number>>;
  const set = (key: string, amount: number | undefined) => {
    const { [key]: _, ...others } = given;
    const next = amount === undefined || amount === 0 ? others : { ...others, [key]: amount };
    onChange(Object.keys(next).length === 0 ? undefined : next);
  };
  return (
    <Input.Wrapper label={label} description={description} error={error} labelElement="div">
      <Stack gap="xs" mt={4}>
        {choices.map((choice) => (
          <NumberField
            key={choice.value}
            label={choice.label}
            size="sm"
            {...AMOUNT}
            value={given[choice.value]}
            whenEmpty={0}
            onChange={(amount) => set(choice.value, amount)}
          />
        ))}
      </Stack>
    </Input.Wrapper>
  );
}

interface SwitchingProps {
  readonly label: string;
  readonly description: string;
  readonly error: string | undefined;
  readonly param: Param;
  readonly text: string;
  readonly isKnown?: boolean | undefined;
  readonly values: readonly Choice[];
  readonly onChange: (value: string | null) => void;
}

/** Yes or no, on or off; a third place where leaving it out means something of its own. */
function Switching({ label, description, error, param, isKnown, text, values, onChange }: SwitchingProps) {
  const unset =
    param.presence === 'optional' && isKnown !== true ? [{ value: '', label: leftOutWords(param.description) }] : [];
  const byDefault = plainText(param.default);
  return (
    <div role="group" aria-label={label}>
      <Text size="sm" fw={500}>
        {label}
      </Text>
      <Text size="xs" c="dimmed" mb={4}>
        {description}
      </Text>
      <SegmentedControl
        size="xs"
        data={[...unset, ...values]}
        value={text === '' ? byDefault : text}
        onChange={onChange}
      />
      {error !== undefined && (
        <Text size="xs" c="red">
          {error}
        </Text>
      )}
    </div>
  );
}

function isYesNo(values: readonly Choice[]): boolean {
  const all = values.map(({ value }) => value.toLowerCase()).sort();
  return all.length === 2 && ['no,yes', 'off,on'].includes(all.join());
}

/** What its declaration lets it be. */
export function enumOf(name: string, param: Param): Choice[] | undefined {
  if (param.kind === 'integer' && /(?:^|_)severity$/.test(name)) return SEVERITIES;
  const schema = param.schema as unknown as Schema;
  const items = (schema['items'] ?? schema) as Schema;
  const values = items['enum'];
  return Array.isArray(values) ? values.map((value) => ({ value: String(value), label: String(value) })) : undefined;
}

function descriptionOf({ description }: Param): string {
  return inBinaryUnits(description.replaceAll('`', ''));
}

function placeholderOf({ default: byDefault, example }: Param, values: readonly Choice[] = []): string | undefined {
  const inWords = (text: string) => values.find(({ value }) => value === text)?.label ?? text;
  const [standing, shown] = [inWords(plainText(byDefault)), inWords(plainText(example))];
  if (standing !== '') return `default: ${standing}`;
  return shown === '' ? undefined : `for example ${shown}`;
}

function plainText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
