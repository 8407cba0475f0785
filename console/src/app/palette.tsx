import { Modal, NavLink, ScrollArea, Text, TextInput } from '@mantine/core';
import { useDebouncedValue, useHotkeys } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState, type KeyboardEvent } from 'react';
import type { Found } from './found.ts';
import { useSearchResults } from './search.ts';

interface PaletteProps {
  readonly isOpen: boolean;
  readonly open: () => void;
  readonly close: () => void;
}

const TYPING_MS = 120;

/** ⌘K: every page, everything that has a name, and what can be done from anywhere. */
export function Palette({ isOpen, open, close }: PaletteProps) {
  useHotkeys([['mod+K', open]], []);
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      withCloseButton={false}
      padding="xs"
      size="lg"
      yOffset="10vh"
      title={undefined}
      attributes={{ content: { 'aria-label': 'Search' } }}
    >
      {isOpen && <Search close={close} />}
    </Modal>
  );
}

function Search({ close }: { readonly close: () => void }) {
  const [typed, setTyped] = useState('');
  const [text] = useDebouncedValue(typed, TYPING_MS);
  const [at, setAt] = useState(0);
  const found = useSearchResults(text);
  const navigate = useNavigate();
  const present = Math.min(at, found.length - 1);

  useEffect(() => {
    // Newer browsers answer with a promise, which is no clean-up.
    void document.getElementById(`found-${present}`)?.scrollIntoView({ block: 'nearest' });
  }, [present]);

  const go = (one: Found | undefined) => {
    if (!one) return;
    close();
    if (one.run) one.run();
    else if (one.to !== undefined) void navigate({ to: one.to, search: one.search ?? {} });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt(Math.max(0, Math.min(found.length - 1, present + step)));
    }
    if (event.key === 'Enter') go(found[present]);
  };

  return (
    <>
      <TextInput
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
        placeholder="Search pages, things by name, and actions …"
        aria-label="Search"
        role="combobox"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={found[present] && `found-${present}`}
        data-autofocus
      />
      <ScrollArea.Autosize mah="60vh" mt="xs" viewportProps={{ tabIndex: 0 }}>
        <div id="found" role="listbox" aria-label="Found">
          {found.map((one, index) => (
            <NavLink
              key={one.key}
              id={`found-${index}`}
              component="div"
              role="option"
              aria-selected={index === present}
              active={index === present}
              label={one.name}
              description={one.detail}
              onClick={() => go(one)}
            />
          ))}
        </div>
        {found.length === 0 && (
          <Text c="dimmed" p="sm" role="status">
            Nothing is called “{text}”.
          </Text>
        )}
      </ScrollArea.Autosize>
    </>
  );
}
