function array = read_npy(path)
% array = read_npy(path): a NumPy array file as an array of Octave's type of the same bits.
  file = fopen(path, 'rb', 'ieee-le');
  if file < 0
    error('read_npy: cannot open %s', path);
  end
  closer = onCleanup(@() fclose(file));
  if ~isequal(fread(file, 6, '*uint8')', [uint8(147) uint8('NUMPY')])
    error('read_npy: not a NumPy array file: %s', path);
  end
  version = fread(file, 2, 'uint8');
  if version(1) == 1
    nbytes = fread(file, 1, 'uint16');
  else
    nbytes = fread(file, 1, 'uint32');
  end
  header = fread(file, nbytes, '*char')';
  descr = regexp(header, '''descr'':\s*''([^'']*)''', 'tokens', 'once'){1};
  fortran = regexp(header, '''fortran_order'':\s*(\w+)', 'tokens', 'once'){1};
  text = regexp(header, '''shape'':\s*\(([^)]*)\)', 'tokens', 'once'){1};
  shape = cellfun(@str2double, regexp(text, '\d+', 'match'));

  types = struct('b1', 'uint8', 'u1', 'uint8', 'i1', 'int8', 'i2', 'int16', 'u2', 'uint16', 'i4', 'int32', ...
                 'u4', 'uint32', 'i8', 'int64', 'u8', 'uint64', 'f4', 'single', 'f8', 'double');
  array = fread(file, prod(shape), ['*' types.(descr(2:3))]);
  if numel(array) ~= prod(shape)
    error('read_npy: %s ends too early', path);
  end
  % Octave's first index runs fastest, a C-ordered array's last.
  if numel(shape) >= 2
    if strcmp(fortran, 'True')
      array = reshape(array, shape);
    else
      array = permute(reshape(array, fliplr(shape)), numel(shape):-1:1);
    end
  end
end
