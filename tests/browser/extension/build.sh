#!/usr/bin/env bash
# Fetch the browser extension from npm and build it for Chromium, by its own Gruntfile, into build/all of the given folder.
# Left out is the last of its tasks, which signs an archive: the browser loads the folder.
set -euo pipefail
folder=$1
here=$(cd "$(dirname "$0")" && pwd)

mkdir -p "$folder"
cp "$here/package.json" "$here/package-lock.json" "$folder/"
npm ci --prefix "$folder" --silent --no-audit --no-fund --ignore-scripts
# The nearest package that npm has to one of the extension's own looks for random numbers where a service worker has none.
sed -i 's/root.secrets = factory()/root.secrets = factory(globalThis.crypto)/' "$folder/node_modules/secrets-passbolt/secrets.js"
rm -rf "$folder/source"
cp -r "$folder/node_modules/passbolt-browser-extension" "$folder/source"
ln -s ../node_modules "$folder/source/node_modules"
cd "$folder/source"
node_modules/.bin/grunt clean:build pre-dist copy:config_default bundle-chromium-mv3 \
    shell:build_service_worker_prod shell:build_content_script_prod shell:build_web_accessible_resources_prod
