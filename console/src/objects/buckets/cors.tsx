import { Checkbox, Group, Stack, Textarea } from '@mantine/core';
import { Failed } from '../../parts/messages.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { numberProblem } from '../../parts/typed-number.ts';
import { corsDocument, type CorsRule } from '../s3/settings.ts';
import { corsOf } from '../s3/settings-read.ts';
import { Rules, withRule, type EditedRule } from './rules.tsx';
import { Setting, SettingDialog, type Shown } from './setting.tsx';

const METHODS = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'];
/** Seconds. */
const MAX_AGE = { min: 0, max: 999_999_999 };
const NEW: CorsRule = {
  id: '',
  origins: [],
  methods: ['GET', 'HEAD'],
  headers: ['*'],
  exposed: ['ETag'],
  maxAge: 3600,
};

/** Which web pages of other origins may reach the bucket from a browser. */
export function Cors({ bucket }: { readonly bucket: string }) {
  return (
    <Setting<CorsRule[], EditedRule<CorsRule>> bucket={bucket} name="cors" read={corsOf}>
      {(shown) => <CorsRules shown={shown} />}
    </Setting>
  );
}

function CorsRules({ shown }: { readonly shown: Shown<CorsRule[], EditedRule<CorsRule>> }) {
  const { value: rules, edited, edit, save, isBusy, error } = shown;
  return (
    <Stack gap="sm">
      <Rules
        headings={['Origins', 'Methods', 'Allowed headers', 'Exposed headers', 'Cached for']}
        rows={rules.map(({ origins, methods, headers, exposed, maxAge }, index) => ({
          name: `rule ${index + 1}`,
          cells: [
            origins.join(', '),
            methods.join(', '),
            headers.join(', ') || 'none',
            exposed.join(', ') || 'none',
            maxAge === undefined ? '–' : `${maxAge} s`,
          ],
        }))}
        empty="There are no rules: web pages of other origins cannot reach the bucket from a browser. Programs can."
        isBusy={isBusy}
        removal="Pages of its origins cannot reach the bucket from a browser any more."
        onAdd={() => edit({ at: 'new', rule: NEW })}
        onChange={(at) => edit({ at, rule: rules[at] ?? NEW })}
        onRemove={(at) => save(corsDocument(rules.filter((_, index) => index !== at)), 'The rule is removed.')}
      />
      {edited === undefined && error && <Failed error={error} />}
      {edited && (
        <RuleDialog
          rule={edited.rule}
          change={(part) => edit({ ...edited, rule: { ...edited.rule, ...part } })}
          shown={shown}
          save={(rule) => save(corsDocument(withRule(rules, { ...edited, rule })), 'The rule is saved.')}
        />
      )}
    </Stack>
  );
}

interface RuleDialogProps {
  readonly rule: CorsRule;
  readonly change: (part: Partial<CorsRule>) => void;
  readonly shown: Shown<unknown, EditedRule<CorsRule>>;
  readonly save: (rule: CorsRule) => void;
}

function RuleDialog({ rule, change, shown, save }: RuleDialogProps) {
  const sent = {
    ...rule,
    origins: rule.origins.filter(isGiven),
    headers: rule.headers.filter(isGiven),
    exposed: rule.exposed.filter(isGiven),
  };
  const problem =
    sent.origins.length === 0
      ? 'Name at least one origin, such as https://app.example.org; * is all of them.'
      : rule.methods.length === 0
        ? 'Choose at least one method.'
        : maxAgeProblem(rule);
  const lines = (label: string, description: string, name: 'origins' | 'headers' | 'exposed') => (
    <Textarea
      label={label}
      description={description}
      value={rule[name].join('\n')}
      onChange={(event) => change({ [name]: event.currentTarget.value.split('\n') })}
      autosize
      minRows={1}
      maxRows={8}
      spellCheck={false}
    />
  );
  return (
    <SettingDialog
      title="CORS rule"
      problem={problem}
      error={shown.error}
      isBusy={shown.isBusy}
      sent={corsDocument([sent])}
      submit="Save rule"
      save={() => save(sent)}
      close={() => shown.edit(undefined)}
    >
      {lines('Origins', 'One a line, such as https://app.example.org; * is all', 'origins')}
      <Checkbox.Group label="Methods" value={[...rule.methods]} onChange={(methods) => change({ methods })}>
        <Group mt={4}>
          {METHODS.map((method) => (
            <Checkbox key={method} value={method} label={method} />
          ))}
        </Group>
      </Checkbox.Group>
      {lines('Headers that may be sent', 'One a line; * is all', 'headers')}
      {lines('Headers that pages may read', 'One a line, such as ETag for uploads in parts', 'exposed')}
      <NumberField
        label="A browser keeps this answer for"
        unit="s"
        {...MAX_AGE}
        value={rule.maxAge}
        onChange={(maxAge) => change({ maxAge })}
      />
    </SettingDialog>
  );
}

function isGiven(text: string): boolean {
  return text.trim() !== '';
}

function maxAgeProblem({ maxAge }: CorsRule): string | undefined {
  const problem = numberProblem(maxAge, MAX_AGE);
  return problem && `Seconds that a browser keeps the answer: ${problem}`;
}
