# Source this file in this folder while `npm start` runs: `. samples/shell.sh` defines the variables and commands that the guides use.
field() { node -p "require('./.data/workspace.json').$1"; }
API=$(field base_url) KEY=$(field api_key) PROJECT=$(field project_id) ORGANIZATION=$(field organization_id)

# get PATH and post PATH JSON call the platform API. value EXPRESSION reads JSON and prints a part of it: get /inbox | value 'data.length'
get() { curl -s -H "x-api-key: $KEY" "$API$1"; }
post() { curl -s -H "x-api-key: $KEY" -H 'content-type: application/json' -d "$2" "$API$1"; }
value() { node -e 'try { console.log(eval("JSON.parse(fs.readFileSync(0))." + process.argv[1])) } catch { process.exit(1) }' "$1"; }

# wait_for_run RUN waits until the run has ended, is paused or waits for a person. It prints the status, such as completed, or the id of
# the approval or preview that waits. wait_for_run RUN ID does not end for ID, because a person has decided it.
wait_for_run() {
  while STATE=$(get "/execute_flow/$1" | node -e '
    const { status, execution_context: { waiting_for } } = JSON.parse(fs.readFileSync(0));
    const id = waiting_for?.approval_id ?? waiting_for?.preview_id;
    console.log(id === undefined || id === process.argv[1] ? status : id)' "${2:-}") && [ "$STATE" = ready -o "$STATE" = running ]; do
    sleep 1
  done
  echo "$STATE"
}

# Prints a token of the workspace's owner. Some routes are for people, not for keys.
sign_in() {
  curl -s -H 'content-type: application/json' -d "{ \"email\": \"$(field admin.email)\", \"password\": \"$(field admin.password)\" }" "$API/v1/auth/sign-in" | value access_token
}
