-- An administrator locked the array down: it serves its data and takes no changes.
ALTER TABLE arrays ADD COLUMN locked_down INTEGER NOT NULL DEFAULT 0;

-- Until now every block and file array had file lifecycle, whatever its order said: those that exist keep it.
UPDATE arrays SET spec = json_set(spec, '$.file_lifecycle', json('true')) WHERE product = 'storage_array';
