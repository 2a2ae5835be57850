#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes dagre.min.js from Debian's packages: apt-get install node-dagre-layout node-graphlibrary node-lodash esbuild
set -eu
cd "$(dirname "$0")"
echo 'export { layout, graphlib } from "dagre";' |
    NODE_PATH=${NODE_PATH:-/usr/share/nodejs} esbuild --bundle --minify --format=iife --global-name=dagre --target=es2019 --charset=ascii \
        --banner:js="/* dagre 0.8.5, graphlib 2.1.8, lodash 4.17.21

$(cat LICENSE)
*/" --outfile=dagre.min.js
