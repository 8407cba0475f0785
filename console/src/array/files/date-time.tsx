import { TextInput } from '@mantine/core';
import { useState } from 'react';

/** A moment in the viewer's zone; told as `YYYY-MM-DD HH:MM:SS` in UTC. */
export function DateTimeInput(props: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (utc: string) => void;
}) {
  const [local, setLocal] = useState('');
  return (
    <TextInput
      type="datetime-local"
      label={props.label}
      value={local}
      onChange={({ currentTarget: { value } }) => {
        setLocal(value);
        const date = new Date(value);
        props.onChange(Number.isNaN(date.getTime()) ? '' : date.toISOString().slice(0, 19).replace('T', ' '));
      }}
    />
  );
}
