// Generates the types of the Node client. Each schema of the API reference is an interface or a type of its own, so that
// an editor shows its name.
import openapiTypescript, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const { factory } = ts;

/** @returns the text of a module with `paths`, `components`, and a type for each schema */
export async function nodeTypes(document) {
  const nodes = await openapiTypescript(structuredClone(document), {
    defaultNonNullable: false,
    emptyObjectsUnknown: true,
  });
  return astToString(nodes.flatMap((node) => (node.name?.text === 'components' ? named(node) : [withNames(node)])));
}

/** Moves each schema out of `components` into a declaration with its documentation. */
function named(components) {
  const declarations = [];
  const members = components.members.map((member) => {
    if (nameOf(member) !== 'schemas') return member;
    const schemas = member.type.members.map((schema) => {
      declarations.push(declarationOf(schema));
      return property(schema, reference(nameOf(schema)));
    });
    return property(member, factory.createTypeLiteralNode(schemas));
  });
  const { modifiers, name, typeParameters, heritageClauses } = components;
  return [
    ...declarations,
    factory.createInterfaceDeclaration(modifiers, name, typeParameters, heritageClauses, members),
  ];
}

function declarationOf(schema) {
  const type = withNames(schema.type);
  const parts = [[factory.createModifier(ts.SyntaxKind.ExportKeyword)], nameOf(schema), undefined];
  const declaration = ts.isTypeLiteralNode(type)
    ? factory.createInterfaceDeclaration(...parts, undefined, type.members)
    : factory.createTypeAliasDeclaration(...parts, type);
  return ts.setSyntheticLeadingComments(declaration, ts.getSyntheticLeadingComments(schema));
}

/** Replaces `components['schemas']['Execution']` by `Execution`. */
function withNames(root) {
  const visit = (node) =>
    ts.isIndexedAccessTypeNode(node) &&
    ts.isIndexedAccessTypeNode(node.objectType) &&
    literalOf(node.objectType) === 'schemas'
      ? reference(literalOf(node))
      : ts.visitEachChild(node, visit, undefined);
  return ts.visitNode(root, visit);
}

const reference = (name) => factory.createTypeReferenceNode(name);
const literalOf = ({ indexType }) => indexType.literal?.text;
const nameOf = ({ name }) => name.text;
const property = ({ modifiers, name, questionToken }, type) =>
  factory.createPropertySignature(modifiers, name, questionToken, type);
