# SPDX-License-Identifier: MIT
"""Makes a .pt2 file with large weights from a small one, without torch: a linear layer with more rows and columns."""

import zipfile


def write_large(sample, path, megabytes, transposed=False):
    """`sample` is linear_relu_dynbatch.pt2. With `transposed`, the weight is stored in columns, so that an export rewrites it."""
    rows, columns = 1021, max(1, megabytes * (1 << 20) // 4 // 1021)
    sizes = {3: rows, 4: columns}
    with zipfile.ZipFile(sample) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as target:
        for member in source.infolist():
            data = source.read(member)
            if member.filename.endswith(("model.json", "model_weights_config.json")):
                for old, new in sizes.items():
                    data = data.replace(b'{"as_int": %d}' % old, b'{"as_int": %d}' % new)
                if transposed and member.filename.endswith("model_weights_config.json"):
                    strides = b'"strides": [{"as_int": %d}, {"as_int": %d}]'
                    before = data
                    data = data.replace(strides % (columns, 1), strides % (1, rows))
                    assert data != before
            elif member.filename.endswith("weight_0"):
                data = bytes(range(251)) * (rows * columns * 4 // 251 + 1)
                data = data[: rows * columns * 4]
            elif member.filename.endswith("weight_1"):
                data = bytes(rows * 4)
            # torch's archives align the data of every member to 64 bytes
            info = zipfile.ZipInfo(member.filename)
            header = target.fp.tell() + 30 + len(member.filename.encode()) + 4
            padding = -header % 64
            info.extra = b"FB" + padding.to_bytes(2, "little") + b"Z" * padding
            target.writestr(info, data)
