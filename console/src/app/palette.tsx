import { Modal, NavLink, ScrollArea, Text, TextInput } from '@mantine/core';
import { useDebouncedValue, useHotkeys } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { ARRAYS_SEARCHED_MAX } from './arrays-searched.ts';
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
  const opener = useRef<Element>(null);
  const wasOpen = useRef(false);
  if (isOpen && !wasOpen.current) opener.current = document.activeElement;
  wasOpen.current = isOpen;
  const leave = () => {
    close();
    if (opener.current instanceof HTMLElement) opener.current.focus();
  };
  return (
    <Modal
      opened={isOpen}
      onClose={leave}
      // Who goes somewhere goes on there, and not where the palette was opened.
      returnFocus={false}
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
  const { found, isSearching, hasFailed, left } = useSearchResults(text);
  /** Enter was pressed before what stands first was known. */
  const [isWaiting, setWaiting] = useState(false);
  const navigate = useNavigate();
  const present = Math.min(at, found.length - 1);

  useEffect(() => {
    // Newer browsers return a promise here, which React would take for a function that cleans up.
    document.getElementById(`found-${present}`)?.scrollIntoView({ block: 'nearest' });
  }, [present]);

  /** What is shown is of the text that stands there, and not of its beginning. */
  const isSettled = text === typed && (!isSearching || (found[present] !== undefined && !found[present].isThing));

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
    if (event.key !== 'Enter') return;
    if (isSettled) go(found[present]);
    else setWaiting(true);
  };
  useEffect(() => {
    if (!isWaiting || !isSettled) return;
    setWaiting(false);
    go(found[present]);
  });

  return (
    <>
      <TextInput
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
          setWaiting(false);
        }}
        onKeyDown={onKeyDown}
        placeholder="Search pages, arrays and what is in them, actions …"
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
        {hasFailed && (
          <Text c="red" p="sm" size="sm" role="alert">
            The search was not answered: things may be missing here. Type again to repeat it.
          </Text>
        )}
        {left > 0 && (
          <Text c="dimmed" p="sm" size="xs" role="status">
            The first {ARRAYS_SEARCHED_MAX} arrays were searched inside; {left} more when they are open.
          </Text>
        )}
        {found.length === 0 && !hasFailed && (
          <Text c="dimmed" p="sm" role="status">
            {isSearching ? 'Searching …' : `Nothing is called “${text}”.`}
          </Text>
        )}
      </ScrollArea.Autosize>
    </>
  );
}
