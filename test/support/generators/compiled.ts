import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { cacheRoot } from '../../../stack/binary-cache.js';
import { runIn, type Generator } from './generator.js';
import { openApiGenerator } from './openapi-generator.js';

const oapiVersion = '2.8.2';
const oapiModule = `module example.com/call

go 1.26

require github.com/oapi-codegen/runtime v1.9.0
`;

const oapiProgram = `package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"

	"example.com/call/api"
)

func main() {
	client, err := api.NewClientWithResponses(os.Getenv("SERVICE_URL"))
	if err != nil {
		panic(err)
	}
	withKey := func(_ context.Context, request *http.Request) error {
		request.Header.Set("x-api-key", os.Getenv("SERVICE_KEY"))
		return nil
	}
	answer, err := client.GetAgentflowIdWithResponse(context.Background(), os.Getenv("AGENTFLOW_ID"), nil, withKey)
	if err != nil {
		panic(err)
	}
	if answer.JSON200 == nil {
		panic(string(answer.Body))
	}
	fmt.Println(answer.JSON200.Name, strconv.FormatFloat(float64(answer.JSON200.CreatedAt), 'f', -1, 64))
}
`;

export const oapiCodegen: Generator = {
  name: `oapi-codegen ${oapiVersion}`,
  needs: ['go'],
  make: async (folder) => {
    await mkdir(path.join(folder, 'api'));
    const flags = ['-generate', 'types,client', '-package', 'api', '-o', 'api/api.go'];
    await runIn(folder, await oapiCodegenProgram(), [...flags, 'openapi.json']);
    await writeFile(path.join(folder, 'go.mod'), oapiModule);
    await writeFile(path.join(folder, 'main.go'), oapiProgram);
    await buildWithGo(folder);
  },
  call: (folder, target) => runIn(folder, path.join(folder, 'call'), [], { ...target }),
};

/** The path of oapi-codegen; built on first use. */
async function oapiCodegenProgram(): Promise<string> {
  const folder = path.join(cacheRoot(process.env), `oapi-codegen-${oapiVersion}`);
  const built = path.join(folder, 'oapi-codegen');
  if (existsSync(built)) return built;
  const unfinished = `${folder}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  const source = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v${oapiVersion}`;
  await runIn(unfinished, 'go', ['install', source], { GOBIN: unfinished });
  await rename(unfinished, folder);
  return built;
}

const goProgram = `package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	openapi "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func main() {
	settings := openapi.NewConfiguration()
	settings.Servers = openapi.ServerConfigurations{{URL: os.Getenv("SERVICE_URL")}}
	keys := map[string]openapi.APIKey{"apiKey": {Key: os.Getenv("SERVICE_KEY")}}
	ctx := context.WithValue(context.Background(), openapi.ContextAPIKeys, keys)
	answer, _, err := openapi.NewAPIClient(settings).AgentflowsAPI.GetAgentflowId(ctx, os.Getenv("AGENTFLOW_ID")).Execute()
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.Name, strconv.FormatFloat(float64(answer.CreatedAt), 'f', -1, 64))
}
`;

export const openApiGeneratorGo: Generator = {
  name: 'openapi-generator go',
  needs: ['go', 'python3', 'java'],
  make: async (folder) => {
    // Constants of enumerations are global in Go, so they begin with the name of their enumeration.
    await openApiGenerator(folder, 'go', '--additional-properties=enumClassPrefix=true');
    const client = path.join(folder, 'client');
    // The generated tests need further modules.
    await rm(path.join(client, 'test'), { recursive: true });
    await mkdir(path.join(client, 'call'));
    await writeFile(path.join(client, 'call', 'main.go'), goProgram);
    await buildWithGo(client, './call');
  },
  call: (folder, target) => runIn(folder, path.join(folder, 'client', 'call', 'call'), [], { ...target }),
};

/** Builds the program `call` of a Go module. */
async function buildWithGo(folder: string, place = '.'): Promise<void> {
  await runIn(folder, 'go', ['mod', 'tidy']);
  await runIn(folder, 'go', ['build', '-o', `${place}/call`, place]);
}

const javaProgram = `import java.math.BigDecimal;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.AgentflowsApi;
import org.openapitools.client.model.Agentflow;

public class Call {
    public static void main(String[] args) throws Exception {
        ApiClient client = new ApiClient();
        client.setBasePath(System.getenv("SERVICE_URL"));
        client.setApiKey(System.getenv("SERVICE_KEY"));
        Agentflow answer = new AgentflowsApi(client).getAgentflowId(System.getenv("AGENTFLOW_ID"), null);
        System.out.println(answer.getName() + " " + BigDecimal.valueOf(answer.getCreatedAt()).toPlainString());
    }
}
`;

export const openApiGeneratorJava: Generator = {
  name: 'openapi-generator java',
  needs: ['java', 'mvn', 'python3'],
  make: async (folder) => {
    await openApiGenerator(folder, 'java');
    const client = path.join(folder, 'client');
    await writeFile(path.join(client, 'src/main/java/Call.java'), javaProgram);
    const libraries = ['dependency:build-classpath', '-Dmdep.outputFile=libraries'];
    await runIn(client, 'mvn', ['--quiet', '--batch-mode', 'compile', ...libraries]);
  },
  call: (folder, target) => {
    const command = ['-c', 'exec java -cp "target/classes:$(cat libraries)" Call'];
    return runIn(path.join(folder, 'client'), 'sh', command, { ...target });
  },
};
