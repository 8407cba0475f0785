-- Older versions kept the interface of a remote array and connected as the machine did: as by fe.
UPDATE remote_arrays SET interface = 'fe';
