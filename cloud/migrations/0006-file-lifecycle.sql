-- Until now every block and file array had file lifecycle, whatever its order said: those that exist keep it.
UPDATE arrays SET spec = json_set(spec, '$.file_lifecycle', json('true')) WHERE product = 'storage_array';
