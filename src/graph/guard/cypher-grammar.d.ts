/* eslint-disable no-restricted-syntax -- ANTLR exports its classes as defaults. */
/**
 * Neo4j's generated ANTLR classes, limited to the members that the guard uses (`stack/cypher-grammar.mjs` compiles
 * them).
 */
declare module '#cypher-grammar/CypherCmdLexer' {
  export default class CypherLexer {
    static symbolicNames: (string | null)[];
    static literalNames: (string | null)[];
    constructor(characters: object);
    nextToken(): unknown;
  }
}
declare module '#cypher-grammar/CypherCmdParser' {
  export default class CypherParser {
    constructor(tokens: object);
  }
}
