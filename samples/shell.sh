# Source this file in this folder while `npm start` runs: `. samples/shell.sh` defines the variables and commands that the guides use.
field() { node -p "require('./.data/workspace.json').$1"; }
API=$(field base_url) KEY=$(field api_key) PROJECT=$(field project_id) ORGANIZATION=$(field organization_id)

# get PATH and post PATH JSON call the platform API. value EXPRESSION reads JSON and prints a part of it: get /inbox | value 'data.length'
get() { curl -s -H "x-api-key: $KEY" "$API$1"; }
post() { curl -s -H "x-api-key: $KEY" -H 'content-type: application/json' -d "$2" "$API$1"; }
value() { node -e 'try { console.log(eval("JSON.parse(fs.readFileSync(0))." + process.argv[1])) } catch { process.exit(1) }' "$1"; }

# Prints a token of the workspace's owner. Some routes are for people, not for keys.
sign_in() {
  curl -s -H 'content-type: application/json' -d "{ \"email\": \"$(field admin.email)\", \"password\": \"$(field admin.password)\" }" "$API/v1/auth/sign-in" | value access_token
}
