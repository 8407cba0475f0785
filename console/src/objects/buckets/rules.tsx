import { Button, Group, Table, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { Question } from '../../parts/question.tsx';

/** A rule that is edited: one of the list, or a new one. */
export interface EditedRule<R> {
  readonly at: number | 'new';
  readonly rule: R;
}

/** The list as it will be. */
export function withRule<R>(rules: readonly R[], { at, rule }: EditedRule<R>): R[] {
  return at === 'new' ? [...rules, rule] : rules.map((one, index) => (index === at ? rule : one));
}

interface RulesProps {
  readonly headings: readonly string[];
  readonly rows: readonly { readonly name: string; readonly cells: readonly ReactNode[] }[];
  /** What holds without a rule. */
  readonly empty: string;
  readonly isBusy: boolean;
  readonly onAdd: () => void;
  readonly onChange: (index: number) => void;
  readonly onRemove: (index: number) => void;
  /** What comes of removing one. */
  readonly removal: string;
  /** Beside the button that adds a rule. */
  readonly tools?: ReactNode;
}

/** The rules of a setting, each with the buttons that change and remove it. */
export function Rules({ headings, rows, empty, isBusy, onAdd, onChange, onRemove, removal, tools }: RulesProps) {
  // As it was when it was asked: the list may be another by the time of the answer, and what is saved is checked by that.
  const [removed, setRemoved] = useState<{ readonly name: string; readonly remove: () => void }>();
  return (
    <>
      {rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          {empty}
        </Text>
      ) : (
        <Table.ScrollContainer minWidth={480}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                {headings.map((heading) => (
                  <Table.Th key={heading}>{heading}</Table.Th>
                ))}
                <Table.Th aria-label="Actions" />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map(({ name, cells }, index) => (
                <Table.Tr key={index}>
                  {cells.map((cell, at) => (
                    <Table.Td key={headings[at]}>{cell}</Table.Td>
                  ))}
                  <Table.Td>
                    <Group gap="xs" wrap="nowrap" justify="flex-end">
                      <Button
                        size="compact-xs"
                        variant="default"
                        onClick={() => onChange(index)}
                        aria-label={`Change ${name}`}
                      >
                        Change
                      </Button>
                      <Button
                        size="compact-xs"
                        variant="default"
                        disabled={isBusy}
                        onClick={() => setRemoved({ name, remove: () => onRemove(index) })}
                        aria-label={`Remove ${name}`}
                      >
                        Remove
                      </Button>
                    </Group>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {removed !== undefined && (
        <Question
          title={`Remove ${removed.name}?`}
          act="Remove"
          onAct={removed.remove}
          close={() => setRemoved(undefined)}
        >
          {removal}
        </Question>
      )}
      <Group>
        <Button variant="default" onClick={onAdd}>
          Add a rule
        </Button>
        {tools}
      </Group>
    </>
  );
}
