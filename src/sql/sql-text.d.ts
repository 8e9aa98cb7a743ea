/** Statements are imported as text, which also puts them inside the bundle and the executable. */
declare module "*.sql" {
  const text: string;
  export default text;
}
